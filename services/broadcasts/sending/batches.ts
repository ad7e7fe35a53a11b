import { setTimeout as sleep } from 'node:timers/promises';
import { durationMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { Context as Activity } from '@temporalio/activity';
import type { SendBatchResponse } from '#gen/postrider/messages/v1/messages_pb.ts';
import { reasonOf, refusal } from '#lib/errors/reasons.ts';
import type { Store } from '#lib/postgres/store.ts';
import { hasTooManyRenderFailures } from '../audience/render-failures.ts';
import type { Slice } from '../audience/slice.ts';
import { addAnswer, type SliceTally, saveTally } from '../audience/tally.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Plan } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';
import { type PlanParts, sendPlanOf } from '../plan/plan.ts';
import { settleStopped } from './settling.ts';

const batchSizeMax = 200;
/** One claims its recipients, one sends, one waits for its last answers. */
const batchesAtOnce = 3;
export const callTimeoutMs = 20_000;
const saveEveryMs = 500;
const retryMs = 500;
/**
 * Attempts for a batch that fails for an unknown reason; then the activity fails, which operators
 * see.
 */
const unexplainedMax = 5;

/**
 * `outage` is set if the provider accepts no mail; it contains no address. Its end, if known, is in
 * Unix milliseconds.
 */
export type SliceResult = {
  outage: string;
  outageEndsAtMs?: number;
  /** It stopped before its last recipient: nothing else is to be begun before the row is read. */
  isUnfinished?: true;
};

export type BatchWork = PlanParts & {
  key: BroadcastKey;
  slice: Slice;
  ignoreRenderFailures: boolean;
  /** Aborted by a pause, a cancel, the end of the run, or a failed call. */
  stop: AbortController;
  deadlineMs: number;
  /** When calls that got no answer can start nothing any more. */
  callsEndAtMs: number;
  /** When `settle` counts what stays uncounted here. */
  settleAt: Date;
};

type Sending = Pick<Peers, 'sender'> & { store: Store; now: () => Date };
type Batch = { last: number; emails: string[] };
type OpenCall = { batch: Batch; answer: Promise<SendBatchResponse | undefined> };

/**
 * Sends batch after batch. An outage or a failed call stops the others; the outcomes of all are
 * counted.
 */
export async function sendBatches(
  context: Sending,
  work: BatchWork,
  tally: SliceTally,
): Promise<SliceResult> {
  const open: OpenCall[] = [];
  try {
    return await countAnswers(context, work, { tally, open });
  } finally {
    await Promise.allSettled(open.map((call) => call.answer));
    await saveEnd(context, work, { tally, open });
  }
}

/** Whether every call that was begun for the slice was counted before this run. */
function wasCounted({ settle_at }: Slice): boolean {
  return settle_at === null;
}

/** Whether no call was begun for any recipient after `answered`. */
function isUntouched(slice: Slice): boolean {
  return wasCounted(slice) && !slice.beyond && slice.answered < slice.size;
}

async function saveEnd(
  context: Sending,
  { slice, stop, callsEndAtMs, settleAt }: BatchWork,
  { tally, open }: { tally: SliceTally; open: OpenCall[] },
): Promise<void> {
  const isCounted = (wasCounted(slice) || tally.position === slice.size) && open.length === 0;
  await saveTally(context, slice, tally, isCounted ? null : settleAt);
  // A slice whose time is up continues at once, and requests the same batches again.
  if (!isCounted && stop.signal.aborted) {
    await settleStopped(context, slice, { tally, callsEndAtMs });
  }
}

/**
 * Keeps `batchesAtOnce` calls open and counts their answers in order. What is left in `open` is not
 * counted.
 */
async function countAnswers(
  context: Sending,
  work: BatchWork,
  { tally, open }: { tally: SliceTally; open: OpenCall[] },
): Promise<SliceResult> {
  const batches = batchesOf(work, tally);
  let savedAtMs = Date.now();
  for (;;) {
    while (open.length < batchesAtOnce && mayGoOn(work, tally)) {
      const batch = batches.shift();
      if (!batch) break;
      open.push(startCall(context, work, batch));
    }
    const [first] = open;
    const answer = await first?.answer;
    if (!first || !answer) {
      const isUnfinished = tally.position < work.slice.size;
      return { outage: '', ...(isUnfinished && { isUnfinished }) };
    }
    if (answer.outage) {
      work.stop.abort();
      return outageOf(answer);
    }
    open.shift();
    tally.position = first.batch.last;
    addAnswer(tally, answer);
    if (tally.isFirstPass && Date.now() - savedAtMs > saveEveryMs) {
      savedAtMs = Date.now();
      await saveTally(context, work.slice, tally, work.settleAt);
    }
  }
}

/** A call that fails stops the others at once, whichever is awaited at that moment. */
function startCall(context: Sending, work: BatchWork, batch: Batch): OpenCall {
  const answer = sendUntilAnswered(context, work, batch);
  answer.catch(() => work.stop.abort());
  return { batch, answer };
}

function outageOf({ outage, outageEndsAt }: SendBatchResponse): SliceResult {
  return outageEndsAt ? { outage, outageEndsAtMs: timestampMs(outageEndsAt) } : { outage };
}

/** A later pass is judged once it is complete: its beginning alone may show too many failures. */
function mayGoOn(work: BatchWork, tally: SliceTally): boolean {
  const isBroken =
    !work.ignoreRenderFailures && tally.isFirstPass && hasTooManyRenderFailures(tally);
  return !isBroken && !mustStop(work);
}

function mustStop({ stop, deadlineMs }: BatchWork): boolean {
  return stop.signal.aborted || Date.now() > deadlineMs;
}

/** One second of sending, so that a pause takes effect within a second. */
function batchSize({ rate_limit_per_minute: rate }: Plan): number {
  return Math.max(1, Math.min(batchSizeMax, Math.floor(rate / 60)));
}

function batchesOf({ plan, slice }: BatchWork, tally: SliceTally): Batch[] {
  const all = slice.emails ?? [];
  const size = batchSize(plan);
  const batches: Batch[] = [];
  for (let first = tally.position; first < all.length; first += size) {
    const emails = all.slice(first, first + size);
    batches.push({ last: first + emails.length, emails });
  }
  return batches;
}

/**
 * Repeats the call until all recipients of the batch have an outcome; undefined if it has to stop
 * before.
 */
async function sendUntilAnswered(
  { sender }: Sending,
  work: BatchWork,
  batch: Batch,
): Promise<SendBatchResponse | undefined> {
  const { key, slice } = work;
  const { signal } = work.stop;
  const request = {
    workspaceId: key.workspaceId,
    broadcastId: key.id,
    plan: sendPlanOf(work),
    emails: batch.emails,
    isFirstCall: isUntouched(slice),
  };
  let unexplained = 0;
  while (!mustStop(work)) {
    let waitMs = retryMs;
    try {
      const answer = await sender.sendBatch(request, { timeoutMs: callTimeoutMs, signal });
      if (answer.outage || answer.notStarted === 0) return answer;
      request.isFirstCall = false;
      if (answer.retryAfter) waitMs = durationMs(answer.retryAfter);
    } catch (error) {
      request.isFirstCall = false;
      if (reasonOf(error) === 'INTEGRATION_NOT_FOUND') throw warned(work, providerGone());
      const { code } = ConnectError.from(error);
      if (code === Code.Internal || code === Code.Unknown) unexplained += 1;
      if (!isRetryable(code) || unexplained >= unexplainedMax) throw warned(work, error);
      if (!signal.aborted) work.callsEndAtMs = Date.now() + callTimeoutMs;
    }
    const leftMs = Math.max(0, work.deadlineMs - Date.now());
    await sleep(Math.min(waitMs, leftMs), undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** The reason of the pause, for people. */
function providerGone(): ConnectError {
  return refusal(
    'INTEGRATION_NOT_FOUND',
    "the email integration was deleted: resume sends the rest through the one that the workspace's settings name",
  );
}

function warned({ key, slice }: BatchWork, error: unknown): unknown {
  const ids = { workspace_id: key.workspaceId, broadcast_id: key.id, slice: slice.number };
  Activity.current().log.warn('a batch cannot be sent', { ...ids, error });
  return error;
}

/** Whether to repeat the call. Messages that were sent meanwhile are in the record. */
function isRetryable(code: Code): boolean {
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
