import { setTimeout as sleep } from 'node:timers/promises';
import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { deleteDeliveries } from '../erasing/deliveries.ts';
import { isWaitingSql } from '../sending/claim.ts';
import { hostOf } from '../subscription.ts';
import {
  type BacklogLimits,
  tooLargeOfWorkspace,
  tooManyOfSubscription,
  tooManyOfWorkspace,
} from './limits.ts';

const stepSize = 5_000;
const restMaxMs = 1_000;
/** Owners get the next mail when nothing was dropped for this long. */
const quietHours = 24;

export type Trimming = { store: Store; databaseTime: () => Date | undefined };

/** How many deliveries of a workspace there are once it is within the limits. */
export type Counts = { pending: ReadonlyMap<string, number>; kept: number; bytes: number };

/** Deliveries that the owners of a workspace get a mail about. */
export type BacklogNotice = {
  workspaceId: string;
  /** The subscription that lost most. */
  name: string;
  host: string;
  /** How many deliveries failed when the mail was queued, and of how many subscriptions. */
  failed: number;
  subscriptions: number;
  reason: string;
  /** RFC 3339. */
  droppedAt: string;
};

/**
 * Brings a workspace within its limits: for each subscription beyond its own, then for all together, the oldest pending deliveries
 * fail; `redeliver` brings them back. Then the oldest deliveries that are done are deleted. Those whose attempt is open are left.
 * Where the payloads are too large, so many deliveries go that the rest, were it of the same mean size, would fit.
 */
export async function trim(
  context: Trimming,
  workspaceId: string,
  limits: BacklogLimits,
): Promise<Counts> {
  const { pendingOfSubscription, bytesOfWorkspace } = limits;
  const bytes = await countBytes(context.store, workspaceId);
  const pending = await countPending(context.store, workspaceId, 2 * pendingOfSubscription);
  for (const [id, count] of pending) {
    const excess = count - pendingOfSubscription;
    if (excess <= 0) continue;
    const reason = tooManyOfSubscription(pendingOfSubscription);
    await failOldest(context, { workspaceId, ids: [id], excess, reason, pending });
  }
  const part = Math.min(1, bytesOfWorkspace / Math.max(1, bytes));
  const most = (limit: number, count: number) =>
    part < 1 ? Math.min(limit, Math.floor(count * part)) : limit;
  const waiting = sum(pending.values());
  const pendingOfWorkspace = most(limits.pendingOfWorkspace, waiting);
  const excess = waiting - pendingOfWorkspace;
  if (excess > 0) {
    const reason = part < 1 ? tooLargeOfWorkspace : tooManyOfWorkspace(limits.pendingOfWorkspace);
    await failOldest(context, { workspaceId, ids: [...pending.keys()], excess, reason, pending });
  }
  const count = await countKept(context.store, workspaceId, 2 * limits.keptOfWorkspace);
  const keptMax = most(limits.keptOfWorkspace, count);
  const kept = await deleteOldest(context.store, { workspaceId, count, keptMax });
  return { pending, kept, bytes: part < 1 ? await countBytes(context.store, workspaceId) : bytes };
}

/** Other workspaces have the database for as long as a step took. */
const rest = (beganAtMs: number) => sleep(Math.min(restMaxMs, performance.now() - beganAtMs));

const sum = (counts: Iterable<number>) => [...counts].reduce((total, count) => total + count, 0);

async function countPending(
  store: Store,
  workspaceId: string,
  countMax: number,
): Promise<Map<string, number>> {
  const countOf = (attempts: string) =>
    `(select count(*)::int from (
       select from deliveries
       where workspace_id = $1 and subscription_id = s.id and status = 'pending' and ${attempts} limit $2
     ) counted)`;
  const rows = await query<{ id: string; count: number }>(
    store.fork(),
    `select id, ${countOf('attempts = 0')} + ${countOf('attempts > 0')} as count
     from subscriptions s where workspace_id = $1`,
    [workspaceId, countMax],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

type Excess = {
  workspaceId: string;
  /** The subscriptions of which the oldest fail. */
  ids: readonly string[];
  excess: number;
  reason: string;
  /** Is lowered by those that fail. */
  pending: Map<string, number>;
};

async function failOldest(context: Trimming, { pending, ...given }: Excess): Promise<void> {
  const failed = new Map<string, number>();
  for (let left = given.excess; left > 0; ) {
    const beganAtMs = performance.now();
    const step = await failStep(context, { ...given, excess: Math.min(left, stepSize) });
    for (const { id, count } of step) {
      failed.set(id, (failed.get(id) ?? 0) + count);
      pending.set(id, (pending.get(id) ?? 0) - count);
    }
    const count = sum(step.map((each) => each.count));
    if (count === 0) break;
    left -= count;
    await rest(beganAtMs);
  }
  if (failed.size > 0) await noteDropped(context, { ...given, failed });
}

function failStep(
  { store, databaseTime }: Trimming,
  { workspaceId, ids, excess, reason }: Omit<Excess, 'pending'>,
): Promise<{ id: string; count: number }[]> {
  const at = 'coalesce($5::timestamptz, now())';
  const oldest = (attempts: string) =>
    `(select id, created_at from deliveries
      where workspace_id = $1 and subscription_id = asked.id and status = 'pending' and ${attempts}
        and ${isWaitingSql(at)}
      order by created_at limit $3)`;
  return query(
    store.fork(),
    `with chosen as materialized (
       select id from deliveries
       where workspace_id = $1 and status = 'pending' and ${isWaitingSql(at)} and id = any(array(
         select waiting.id from unnest($2::text[]) as asked (id)
         cross join lateral (${oldest('attempts = 0')} union all ${oldest('attempts > 0')}) waiting
         order by waiting.created_at limit $3
       ))
       for update skip locked
     ),
     failed as (
       update deliveries set status = 'failed', next_attempt_at = null, last_error = $4
       where workspace_id = $1 and id = any(array(select id from chosen))
       returning subscription_id
     )
     select subscription_id as id, count(*)::int as count from failed group by 1`,
    [workspaceId, ids, excess, reason, databaseTime()?.toISOString() ?? null],
  );
}

type Dropped = { workspaceId: string; reason: string; failed: ReadonlyMap<string, number> };
type Noted = { id: string; name: string; url: string; at: string; was_quiet: boolean };

/** Notes it in the rows of the subscriptions, and has the owners told unless they were in the same flood. */
function noteDropped(
  { store, databaseTime }: Trimming,
  { workspaceId, reason, failed }: Dropped,
): Promise<void> {
  return store.fork().transactional(async (em) => {
    const rows = await query<Noted>(
      em,
      `with clock as materialized (select coalesce($3::timestamptz, now()) as at),
       before as materialized (
         select coalesce(max(dropped_at) < (select at from clock) - interval '${quietHours} hours', true) as was_quiet
         from subscriptions where workspace_id = $1
       ),
       locked as materialized (
         select id from subscriptions where workspace_id = $1 and id = any($2::text[])
         order by id for update
       )
       update subscriptions s set dropped_at = clock.at from locked, clock, before
       where s.workspace_id = $1 and s.id = locked.id
       returning s.id, s.name, s.url, clock.at, before.was_quiet`,
      [workspaceId, [...failed.keys()], databaseTime()?.toISOString() ?? null],
    );
    const failedOf = ({ id }: Noted) => failed.get(id) ?? 0;
    const [most] = rows.toSorted((a, b) => failedOf(b) - failedOf(a));
    if (!most?.was_quiet) return;
    const notice: BacklogNotice = {
      workspaceId,
      name: most.name,
      host: hostOf(most),
      failed: sum(failed.values()),
      subscriptions: rows.length,
      reason,
      droppedAt: new Date(most.at).toISOString(),
    };
    const key = `backlog ${workspaceId}`;
    await addJob(em, 'webhooks', { task: 'notifyOfBacklog', payload: notice, key });
  });
}

/** As stored: compressed where PostgreSQL has done that. */
async function countBytes(store: Store, workspaceId: string): Promise<number> {
  const [row] = await query<{ bytes: string | null }>(
    store.fork(),
    'select sum(pg_column_size(payload))::text as bytes from events where workspace_id = $1',
    [workspaceId],
  );
  return Number(row?.bytes ?? 0);
}

async function countKept(store: Store, workspaceId: string, countMax: number): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `select count(*)::int as count from (
       select from deliveries where workspace_id = $1 limit $2
     ) kept`,
    [workspaceId, countMax],
  );
  return row?.count ?? 0;
}

/** Returns how many are left. */
async function deleteOldest(
  store: Store,
  { workspaceId, count: before, keptMax }: { workspaceId: string; count: number; keptMax: number },
): Promise<number> {
  const em = store.fork();
  let kept = before;
  const chosen = `select id from deliveries where workspace_id = $1 and status <> 'pending' order by created_at limit $2`;
  while (kept > keptMax) {
    const beganAtMs = performance.now();
    const count = await deleteDeliveries(em, chosen, [
      workspaceId,
      Math.min(kept - keptMax, stepSize),
    ]);
    if (count === 0) break;
    kept -= count;
    await rest(beganAtMs);
  }
  return kept;
}
