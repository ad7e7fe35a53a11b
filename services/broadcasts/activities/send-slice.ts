import { Context as Activity } from '@temporalio/activity';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Slice } from '../audience/slice.ts';
import { openSlice, type SliceTally, startTally } from '../audience/tally.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import { findIfThere, lockIfThere } from '../broadcast/queries.ts';
import { isMoving, isOver, type Plan } from '../broadcast/row.ts';
import type { Context } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';
import { readPlanFeeds } from '../plan/feeds.ts';
import {
  type BatchWork,
  callTimeoutMs,
  type SliceResult,
  sendBatches,
} from '../sending/batches.ts';
import type { WorkspaceTurn } from '../sending/workspace-turns.ts';

const workMaxMs = 60_000;
/** While other broadcasts of the workspace wait for their turn. */
const shareMs = 5_000;
const heartbeatEveryMs = 250;

export type SliceKey = BroadcastKey & { slice: number };

/**
 * Sends one slice, or as much of it as a minute allows. Recipients with an outcome are answered
 * from the record, so it is safe to repeat and to run twice at the same time.
 */
export function sendSlice(context: Context) {
  return async (key: SliceKey): Promise<SliceResult> =>
    context.turns.slices.take(key.workspaceId, (turn) => sendInTurn(context, key, turn));
}

async function sendInTurn(
  context: Context,
  key: SliceKey,
  turn: WorkspaceTurn,
): Promise<SliceResult> {
  const em = context.store.fork();
  const found = await findWork(em, key);
  if (!found) return { outage: '' };
  const { broadcast, plan, slice } = found;
  if (await context.complaints.pauses(key, broadcast)) return { outage: '', isUnfinished: true };
  const { revision, name: broadcastName, ignore_render_failures: ignoreRenderFailures } = broadcast;
  const now = context.now();
  const settleAt = new Date(now.getTime() + workMaxMs + callTimeoutMs);
  if (!(await openSlice(em, key, { number: key.slice, revision, now, settleAt }))) {
    return { outage: '' };
  }
  const parts = {
    plan,
    variation: variationOf(broadcast, plan, slice),
    list: listOf(plan, slice),
  };
  const feeds = await readPlanFeeds(em, { key, keyring: context.keyring }, plan);
  const stop = new AbortController();
  const deadlineMs = Date.now() + workMaxMs;
  const given = { ...parts, key, slice, broadcastName, feeds, ignoreRenderFailures };
  const tally = startTally(slice);
  const work = { ...given, stop, deadlineMs, settleAt, callsEndAtMs: 0 };
  const endWatch = watchSlice(context, { key, revision, work, tally, turn });
  try {
    return await sendBatches(context, work, tally);
  } finally {
    endWatch();
    if (broadcast.outages > 0 && tally.sent > slice.sent) await forgetOutages(context, key);
    if (stop.signal.aborted) await wakeIfOver(context, key);
  }
}

/** Undefined where the row no longer allows it, or is gone. */
async function findWork(em: EntityManager, key: SliceKey) {
  const { workspaceId: workspace_id, id: broadcast_id, slice: number } = key;
  const broadcast = await findIfThere(em, key);
  if (!broadcast?.plan || !isMoving(broadcast.status)) return undefined;
  const slice = await em.findOne(
    Slice,
    { workspace_id, broadcast_id, number },
    { populate: ['emails'] },
  );
  return slice && !slice.done_at ? { broadcast, plan: broadcast.plan, slice } : undefined;
}

/** The provider accepts mail again, so outages are counted from the start. */
async function forgetOutages({ store }: Context, { workspaceId, id }: BroadcastKey): Promise<void> {
  await query(
    store.fork(),
    'update broadcasts set outages = 0 where workspace_id = $1 and id = $2',
    [workspaceId, id],
  );
}

/**
 * A run that an operator cancels does not wait for its activities. If the activity then leaves
 * nothing to count, the run has to read the row again: it may have seen a slice that was still to
 * be counted.
 */
async function wakeIfOver({ store }: Context, key: BroadcastKey): Promise<void> {
  await store.fork().transactional(async (em) => {
    const broadcast = await lockIfThere(em, key);
    if (broadcast && isOver(broadcast.status)) await wake(em, broadcast);
  });
}

/**
 * The variation of an arm; once there is a winner, the winner, also for recipients of the sample
 * without a message.
 */
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

function listOf({ lists }: Plan, slice: Slice): Plan['lists'][number] | undefined {
  if (lists.length === 0) return undefined;
  const list = lists[slice.list];
  if (!list) throw new Error('the plan has no such list');
  return list;
}

/**
 * Stops the slice when the row has changed or its turn is over, and heartbeats its progress.
 * Returns a function that ends both.
 */
function watchSlice(
  { revisions }: Context,
  {
    key,
    revision,
    work,
    tally,
    turn,
  }: { key: SliceKey; revision: number; work: BatchWork; tally: SliceTally; turn: WorkspaceTurn },
): () => void {
  const { stop } = work;
  const activity = Activity.current();
  const { cancellationSignal } = activity;
  if (cancellationSignal.aborted) stop.abort();
  cancellationSignal.addEventListener('abort', () => stop.abort(), { once: true });
  const startedAtMs = Date.now();
  const endWatch = revisions.watch(key, revision, () => stop.abort());
  const beating = setInterval(() => {
    const seconds = (Date.now() - startedAtMs) / 1000;
    if (seconds * 1_000 > shareMs && turn.othersWait()) {
      work.deadlineMs = Math.min(work.deadlineMs, Date.now());
    }
    const ratePerSecond = Math.round((tally.position - tally.startedAt) / seconds);
    activity.heartbeat({ position: tally.position, sent: tally.sent, ratePerSecond });
  }, heartbeatEveryMs);
  return () => {
    clearInterval(beating);
    endWatch();
  };
}
