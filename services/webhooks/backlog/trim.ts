import { setTimeout as sleep } from 'node:timers/promises';
import { addJob } from '#lib/jobs/jobs.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { overfullListeners, trimWaiting } from '../listening/trim-waiting.ts';
import { deleteDeliveries } from '../matching/delete-deliveries.ts';
import { isWaitingSql } from '../sending/claim.ts';
import { hostOf } from '../subscription.ts';
import {
  type BacklogLimits,
  tooLargeOfWorkspace,
  tooManyOfSubscription,
  tooManyOfWorkspace,
} from './limits.ts';

const stepSize = 5_000;
/** Of each subscription in a step at least, where all of a workspace are asked. */
const ofSubscriptionMin = 500;
const restMaxMs = 1_000;
/** Owners get the next mail when nothing was dropped for this long. */
const quietHours = 24;

export type Trimming = {
  store: Store;
  databaseTime: () => Date | undefined;
  log: Pick<Log, 'warn'>;
};

/** How many deliveries of a workspace there are once it is within the limits. */
export type DeliveryCounts = { pending: ReadonlyMap<string, number>; kept: number; bytes: number };

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
 * Brings a workspace within its limits: what waits for listeners goes first. Then, for each
 * subscription beyond its own limit and for all together, the oldest pending deliveries fail;
 * `redeliver` brings them back. Then the oldest
 * deliveries that are done are deleted. Deliveries with an open attempt are left. If the payloads
 * are too large, the number to delete is computed from their mean size.
 *
 * Other processes may do the same meanwhile, so what is beyond is counted again before each step:
 * together they go a step too far at most.
 */
export async function trim(
  context: Trimming,
  workspaceId: string,
  limits: BacklogLimits,
): Promise<DeliveryCounts> {
  const { store } = context;
  const { pendingOfSubscription, bytesOfWorkspace } = limits;
  const bytes = await trimListeners(context, workspaceId, limits);
  const part = Math.min(1, bytesOfWorkspace / Math.max(1, bytes));
  const most = (limit: number, count: number) =>
    part < 1 ? Math.min(limit, Math.floor(count * part)) : limit;
  const count = () => countPending(store, workspaceId, 2 * pendingOfSubscription);
  let pending = await count();
  const pendingMax = most(limits.pendingOfWorkspace, sum(pending.values()));
  const ofAll = part < 1 ? tooLargeOfWorkspace : tooManyOfWorkspace(limits.pendingOfWorkspace);
  const failed = new Map<string, number>();
  let reason = ofAll;
  /** Subscriptions of which no more can fail now. */
  const done = new Set<string>();
  try {
    for (;;) {
      const [id] = [...pending.keys()].filter(
        (each) => (pending.get(each) ?? 0) > pendingOfSubscription && !done.has(each),
      );
      const ids = id === undefined ? [...pending.keys()] : [id];
      const excess =
        id === undefined
          ? sum(pending.values()) - pendingMax
          : (pending.get(id) ?? 0) - pendingOfSubscription;
      if (excess <= 0) break;
      const beganAtMs = performance.now();
      reason = id === undefined ? ofAll : tooManyOfSubscription(pendingOfSubscription);
      const given = { workspaceId, ids, excess: Math.min(excess, stepSize), reason };
      const step = await failStep(context, given);
      for (const each of step) failed.set(each.id, (failed.get(each.id) ?? 0) + each.count);
      if (step.length === 0 && id === undefined) break;
      if (step.length === 0 && id !== undefined) done.add(id);
      await rest(beganAtMs);
      pending = await count();
    }
  } finally {
    if (failed.size > 0) await noteDropped(context, { workspaceId, reason, failed });
  }
  const kept = await deleteOldest(store, { workspaceId, keptMax: limits.keptOfWorkspace, part });
  return { pending, kept, bytes: part < 1 ? await countBytes(context, workspaceId) : bytes };
}

/** Returns the bytes of payloads that are left. */
async function trimListeners(
  context: Trimming,
  workspaceId: string,
  { waitingOfListener, bytesOfWorkspace }: BacklogLimits,
): Promise<number> {
  const { store } = context;
  const trimAll = async (most: number) => {
    for await (const listener of overfullListeners(store, { workspaceId, most })) {
      await trimWaiting(store, listener);
    }
  };
  await trimAll(waitingOfListener);
  const bytes = await countBytes(context, workspaceId);
  if (bytes <= bytesOfWorkspace) return bytes;
  await trimAll(0);
  return countBytes(context, workspaceId);
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
};

/**
 * Fails the oldest of all subscriptions, or fewer: of each it reads its share twice, and fails
 * nothing that is newer than what it has not read of another.
 */
function failStep(
  { store, databaseTime }: Trimming,
  { workspaceId, ids, excess, reason }: Excess,
): Promise<{ id: string; count: number }[]> {
  const at = 'coalesce($5::timestamptz, now())';
  const ofEach = Math.max(ofSubscriptionMin, Math.ceil((2 * excess) / ids.length));
  const oldest = (attempts: string) =>
    `(select id, created_at from deliveries
      where workspace_id = $1 and subscription_id = asked.id and status = 'pending' and ${attempts}
        and ${isWaitingSql(at)}
      order by created_at limit $6)`;
  return query(
    store.fork(),
    `with oldest as materialized (
       select waiting.id, waiting.created_at,
         row_number() over (partition by asked.id order by waiting.created_at) as place
       from unnest($2::text[]) as asked (id)
       cross join lateral (
         select * from (${oldest('attempts = 0')} union all ${oldest('attempts > 0')}) of_both
         order by created_at limit $6
       ) waiting
     ),
     chosen as materialized (
       select id from deliveries
       where workspace_id = $1 and status = 'pending' and ${isWaitingSql(at)} and id = any(array(
         select id from oldest
         where created_at <= coalesce((select min(created_at) from oldest where place = $6), 'infinity')
         order by created_at limit $3
       ))
       for update skip locked
     ),
     failed as (
       update deliveries set status = 'failed', next_attempt_at = null, last_error = $4
       where workspace_id = $1 and id = any(array(select id from chosen))
       returning subscription_id
     )
     select subscription_id as id, count(*)::int as count from failed group by 1`,
    [
      workspaceId,
      ids,
      excess,
      reason,
      databaseTime()?.toISOString() ?? null,
      Math.min(excess, ofEach),
    ],
  );
}

type Dropped = { workspaceId: string; reason: string; failed: ReadonlyMap<string, number> };
type Noted = { id: string; name: string; url: string; at: string; was_quiet: boolean };

/**
 * Notes it in the rows of the subscriptions, and has the owners told unless they were in the same
 * flood.
 */
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

/**
 * As stored: compressed where PostgreSQL has done that. 0 where the count takes too long, so that
 * the other limits hold.
 */
async function countBytes({ store, log }: Trimming, workspaceId: string): Promise<number> {
  try {
    const [row] = await query<{ bytes: string | null }>(
      store.fork(),
      'select sum(pg_column_size(payload))::text as bytes from events where workspace_id = $1',
      [workspaceId],
    );
    return Number(row?.bytes ?? 0);
  } catch (err) {
    log.warn({ err, workspaceId }, 'the payloads of webhooks were not counted');
    return 0;
  }
}

/**
 * Returns how many are left: at most `keptMax`, and no more than a part of what there was. One
 * statement fixes which ones go, so that another process that does the same deletes no others.
 */
async function deleteOldest(
  store: Store,
  { workspaceId, keptMax, part }: { workspaceId: string; keptMax: number; part: number },
): Promise<number> {
  const em = store.fork();
  const done = `deliveries where workspace_id = $1 and status <> 'pending'`;
  const [found] = await query<{ kept: number; created_at: string | null; id: string | null }>(
    em,
    `with kept as materialized (
       select count(*)::int as count from (select from deliveries where workspace_id = $1 limit $2) counted
     ),
     last as (
       select created_at, id from (
         select created_at, id from ${done} order by created_at, id
         limit greatest(0, (select count - least($3::bigint, floor(count * $4::float8)::bigint) from kept))
       ) oldest order by created_at desc, id desc limit 1
     )
     select kept.count as kept, last.created_at::text, last.id from kept left join last on true`,
    [workspaceId, 2 * keptMax, keptMax, part],
  );
  let left = found?.kept ?? 0;
  if (!found?.id) return left;
  const chosen = `select id from ${done} and (created_at, id) <= ($2::timestamptz, $3::uuid) order by created_at limit ${stepSize}`;
  for (;;) {
    const beganAtMs = performance.now();
    const count = await deleteDeliveries(em, chosen, [workspaceId, found.created_at, found.id]);
    if (count === 0) return left;
    left -= count;
    await rest(beganAtMs);
  }
}
