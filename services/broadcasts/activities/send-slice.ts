import { Context as Activity } from '@temporalio/activity';
import { query } from '#lib/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast.ts';
import { findBroadcast } from '../broadcast-queries.ts';
import { isMoving, type Plan, type Status } from '../broadcast-settings.ts';
import type { Context } from '../context.ts';
import { readPlanFeeds } from '../plan-feeds.ts';
import { Slice } from '../slice.ts';
import { openSlice, type SliceTally, startTally } from '../slice-tally.ts';
import { callTimeoutMs, type SliceResult, sendBatches } from './send-batches.ts';

const workMaxMs = 60_000;
const lookEveryMs = 250;

export type SliceKey = BroadcastKey & { slice: number };

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
    const settleAt = new Date(context.now().getTime() + workMaxMs + callTimeoutMs);
    const { revision } = broadcast;
    if (!(await openSlice(em, key, { number, revision, settleAt }))) return { outage: '' };
    const variation = variationOf(broadcast, plan, slice);
    const list = listOf(plan, slice);
    const stop = new AbortController();
    const tally = startTally(slice);
    const watcher = watchStatus(context, { key, status, stop, tally });
    const deadlineMs = Date.now() + workMaxMs;
    const feeds = await readPlanFeeds(em, key, plan);
    const { name: broadcastName, bears_unrendered: bearsUnrendered } = broadcast;
    const given = { key, plan, variation, list, broadcastName, feeds, slice };
    const work = { ...given, bearsUnrendered, stop, deadlineMs, settleAt, callsEndAtMs: 0 };
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
