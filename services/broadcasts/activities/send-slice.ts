import { setTimeout as sleep } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { Context as Activity } from '@temporalio/activity';
import type { SendBatchResponse } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast.ts';
import { findBroadcast } from '../broadcast-queries.ts';
import { isMoving, type Plan, type Status } from '../broadcast-settings.ts';
import type { Context } from '../context.ts';
import { type PlanParts, sendPlanOf } from '../plan.ts';
import { readPlanFeeds } from '../plan-feeds.ts';
import { Slice } from '../slice.ts';
import { addAnswer, type SliceTally, saveTally, startTally } from '../slice-tally.ts';
import { isTooMuchUnrendered } from '../unrendered.ts';

const workMaxMs = 60_000;
const batchSizeMax = 200;
/** One is being claimed, one sends, one waits for its last answers. */
const batchesAtOnce = 3;
const callTimeoutMs = 20_000;
const lookEveryMs = 250;
const saveEveryMs = 500;
const retryMs = 500;

export type SliceKey = BroadcastKey & { slice: number };

/** `outage` is set where the provider takes no mail; it names no address. It may say when it ends, in Unix milliseconds. */
export type SliceResult = { outage: string; outageEndsAtMs?: number };

type Work = PlanParts & {
  key: SliceKey;
  slice: Slice;
  bearsUnrendered: boolean;
  /** Aborted by a pause, a cancel or the end of the run. */
  stop: AbortSignal;
  deadlineMs: number;
};

type Batch = { last: number; emails: string[] };

/**
 * Sends one slice, or as much of it as a minute allows. Whoever has an outcome is answered from the
 * record, so it may run again, and even twice at the same time.
 */
export function sendSlice(context: Context) {
  return async (key: SliceKey): Promise<SliceResult> => {
    const em = context.store.fork();
    const broadcast = await findBroadcast(em, key);
    const { workspaceId: workspace_id, id: broadcast_id, slice: number } = key;
    const slice = await em.findOneOrFail(
      Slice,
      { workspace_id, broadcast_id, number },
      { populate: ['emails'] },
    );
    const { plan, status } = broadcast;
    if (!isMoving(status) || !plan || slice.done_at) return { outage: '' };
    const variation = variationOf(broadcast, plan, slice);
    const list = listOf(plan, slice);
    const stop = new AbortController();
    const tally = startTally(slice);
    const watcher = watchStatus(context, { key, status, stop, tally });
    const deadlineMs = Date.now() + workMaxMs;
    const feeds = await readPlanFeeds(em, key, plan);
    const { name: broadcastName, bears_unrendered: bearsUnrendered } = broadcast;
    const given = { key, plan, variation, list, broadcastName, feeds, slice };
    const work = { ...given, bearsUnrendered, stop: stop.signal, deadlineMs };
    try {
      return await sendBatches(context, work, tally);
    } finally {
      clearInterval(watcher);
    }
  };
}

/** What an arm gets, or everybody once there is a winner: also who of the sample has no mail yet. */
function variationOf(
  { winning_template }: Broadcast,
  { variations }: Plan,
  { arm }: Slice,
): Plan['variations'][number] {
  const winner = variations.find(({ template_id }) => template_id === winning_template);
  const variation = winner ?? variations[arm ?? 0];
  if (!variation) throw new Error('the plan has no such variation');
  return variation;
}

function listOf({ lists }: Plan, slice: Slice): Plan['lists'][number] {
  const list = lists[slice.list];
  if (!list) throw new Error('the plan has no such list');
  return list;
}

/** Keeps `batchesAtOnce` calls open and counts their answers in order. */
async function sendBatches(context: Context, work: Work, tally: SliceTally): Promise<SliceResult> {
  const batches = batchesOf(work, tally);
  const open: { batch: Batch; answer: Promise<SendBatchResponse | undefined> }[] = [];
  let savedAtMs = Date.now();
  let result: SliceResult = { outage: '' };
  for (let next = 0; next < batches.length || open.length > 0; ) {
    while (open.length < batchesAtOnce && next < batches.length && mayGoOn(work, tally)) {
      const batch = batches[next] ?? { last: 0, emails: [] };
      next += 1;
      open.push({ batch, answer: sendUntilAnswered(context, work, batch) });
    }
    const first = open.shift();
    if (!first) break;
    const answer = await first.answer;
    if (!answer || answer.outage) {
      if (answer) result = outageOf(answer);
      await Promise.allSettled(open.map((call) => call.answer));
      break;
    }
    addAnswer(tally, first.batch.last, answer);
    if (tally.isFirstPass && Date.now() - savedAtMs > saveEveryMs) {
      savedAtMs = Date.now();
      await saveTally(context, work.slice, tally);
    }
  }
  await saveTally(context, work.slice, tally);
  return result;
}

function outageOf({ outage, outageEndsAt }: SendBatchResponse): SliceResult {
  return outageEndsAt ? { outage, outageEndsAtMs: timestampMs(outageEndsAt) } : { outage };
}

/** A later pass is judged when it went through: its beginning alone may show too much. */
function mayGoOn(work: Work, tally: SliceTally): boolean {
  const isBroken = !work.bearsUnrendered && tally.isFirstPass && isTooMuchUnrendered(tally);
  return !isBroken && !mustStop(work);
}

function mustStop({ stop, deadlineMs }: Work): boolean {
  return stop.aborted || Date.now() > deadlineMs;
}

/** What a second sends, so that a pause takes hold within one. */
function batchSize({ rate_limit_per_minute: rate }: Plan): number {
  return Math.max(1, Math.min(batchSizeMax, Math.floor(rate / 60)));
}

function batchesOf({ plan, slice }: Work, tally: SliceTally): Batch[] {
  const all = slice.emails ?? [];
  const size = batchSize(plan);
  const batches: Batch[] = [];
  for (let first = tally.position; first < all.length; first += size) {
    const emails = all.slice(first, first + size);
    batches.push({ last: first + emails.length, emails });
  }
  return batches;
}

/** Asks until everybody in the batch has an outcome; undefined if it has to stop before. */
async function sendUntilAnswered(
  { sender }: Context,
  work: Work,
  batch: Batch,
): Promise<SendBatchResponse | undefined> {
  const { key, stop } = work;
  const request = {
    workspaceId: key.workspaceId,
    broadcastId: key.id,
    plan: sendPlanOf(work),
    emails: batch.emails,
  };
  while (!mustStop(work)) {
    try {
      const answer = await sender.sendBatch(request, { timeoutMs: callTimeoutMs, signal: stop });
      if (answer.outage || answer.notStarted === 0) return answer;
    } catch (error) {
      if (!mayPass(ConnectError.from(error).code)) throw error;
    }
    await sleep(retryMs, undefined, { signal: stop }).catch(() => {});
  }
  return undefined;
}

/** Whether asking again may help. What was sent meanwhile is in the record. */
function mayPass(code: Code): boolean {
  return (
    code === Code.Unavailable ||
    code === Code.DeadlineExceeded ||
    code === Code.ResourceExhausted ||
    code === Code.Aborted ||
    code === Code.Canceled ||
    code === Code.Internal ||
    code === Code.Unknown
  );
}

/** Looks at the row four times a second, and tells Temporal where the slice is. */
function watchStatus(
  { store }: Context,
  {
    key,
    status: startedIn,
    stop,
    tally,
  }: { key: SliceKey; status: Status; stop: AbortController; tally: SliceTally },
): NodeJS.Timeout {
  const activity = Activity.current();
  activity.cancellationSignal.addEventListener('abort', () => stop.abort(), { once: true });
  const startedAtMs = Date.now();
  let isLooking = false;
  return setInterval(() => {
    const seconds = (Date.now() - startedAtMs) / 1000;
    const ratePerSecond = Math.round((tally.position - tally.startedAt) / seconds);
    activity.heartbeat({ position: tally.position, sent: tally.sent, ratePerSecond });
    if (isLooking) return;
    isLooking = true;
    statusOf(store, key)
      // A database that is away for a moment stops nothing: the claims of messages decide.
      .then(
        (status) => status !== startedIn && stop.abort(),
        () => {},
      )
      .finally(() => {
        isLooking = false;
      });
  }, lookEveryMs);
}

async function statusOf(store: Context['store'], key: SliceKey): Promise<string | undefined> {
  const [row] = await query<{ status: string }>(
    store.fork(),
    'select status from broadcasts where workspace_id = $1 and id = $2',
    [key.workspaceId, key.id],
  );
  return row?.status;
}
