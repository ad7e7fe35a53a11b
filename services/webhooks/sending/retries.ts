import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { pendingSql } from '../delivery.ts';
import { hostOf, type SubscriptionKey } from '../subscription.ts';
import type { SendingContext } from './attempt.ts';
import { isWaitingSql } from './claim.ts';
import { type DeliverOptions, RetryRun } from './retry-run.ts';

/** The deliveries of a subscription as its run shows them. Times are Unix milliseconds. */
export type Retries = {
  name: string;
  host: string;
  enabled: boolean;
  /** Why the system has disabled it; null if it has not. */
  disabledReason: string | null;
  /** All that are neither delivered nor given up; counted to 100,000 and no further. */
  pending: number;
  /**
   * Pending deliveries that have failed and wait, counted as well; open first attempts are not
   * among them.
   */
  retries: number;
  /**
   * When the run has to look next: the earliest retry, or the probe while the circuit is open. Null
   * if there is none.
   */
  nextDueAt: number | null;
  /** When one delivery is tried although the circuit is open; null while it is closed. */
  probeAt: number | null;
  /** Of the last attempt that failed and is tried again. Without address; null if there is none. */
  lastError: string | null;
};

type Reading = Pick<SendingContext, 'store' | 'databaseTime'>;

type RetriesRow = {
  name: string;
  url: string;
  enabled: boolean;
  disabled_reason: string | null;
  probe_ms: number | null;
  pending: number;
  retries: number;
  due_ms: number | null;
  last_error: string | null;
};

const countMax = 100_000;

// A claim that is open and not over is none: if its process dies, a job sees to the run.
const waiting = `workspace_id = $1 and subscription_id = $2 and status = 'pending' and attempts > 0
  and ${isWaitingSql('coalesce($3::timestamptz, now())')}`;

/** SQL of the first millisecond at which a time has come: a run that looks before finds nothing. */
const msSql = (time: string) => `ceil(extract(epoch from ${time}) * 1000)::float8`;

/**
 * Reads the state, and notes when the run looks next, so that it is woken only for what is due
 * earlier. Undefined if the subscription is gone.
 */
export function readRetries(
  { store, databaseTime }: Reading,
  key: SubscriptionKey,
): Promise<Retries | undefined> {
  return store.fork().transactional(async (em) => {
    const row = await readLocked(em, key, databaseTime());
    if (!row) return undefined;
    const { due_ms: dueMs, probe_ms: probeMs } = row;
    const nextDueAt = dueMs === null ? null : Math.max(dueMs, probeMs ?? 0);
    if (nextDueAt !== null) await setNextWake(em, key, new Date(nextDueAt));
    return {
      name: row.name,
      host: hostOf(row),
      enabled: row.enabled,
      disabledReason: row.disabled_reason,
      pending: row.pending,
      retries: row.retries,
      nextDueAt,
      probeAt: probeMs,
      lastError: row.last_error,
    };
  });
}

/**
 * Notes that the run of a subscription ends, unless a retry is left that it must make: then false.
 * Retries of a disabled subscription wait without a run.
 */
export function finishRetries(
  { store, databaseTime }: Reading,
  key: SubscriptionKey,
): Promise<boolean> {
  return store.fork().transactional(async (em) => {
    const row = await readLocked(em, key, databaseTime());
    if (!row) return true;
    if (row.enabled && row.due_ms !== null) return false;
    await setNextWake(em, key, null);
    return true;
  });
}

/**
 * Sends the retries that are due, until none is, or the time is over. While the circuit is open
 * that is one probe.
 */
export async function deliverRetries(
  context: SendingContext,
  key: SubscriptionKey,
  options: DeliverOptions,
): Promise<void> {
  const run = new RetryRun(context, key, options);
  while (await run.step()) options.heartbeat();
  await run.end();
}

/** Results are stored under the same lock, so none can come between the reading and the note. */
async function readLocked(
  em: EntityManager,
  { workspaceId, id }: SubscriptionKey,
  now: Date | undefined,
): Promise<RetriesRow | undefined> {
  const [locked] = await query(
    em,
    'select 1 from subscriptions where workspace_id = $1 and id = $2 for update',
    [workspaceId, id],
  );
  if (!locked) return undefined;
  const [row] = await query<RetriesRow>(
    em,
    `select s.name, s.url, s.enabled, s.disabled_reason, ${msSql('s.probe_at')} as probe_ms,
       (select count(*)::int from (
         select from ${pendingSql('workspace_id = $1 and subscription_id = $2')} pending limit ${countMax}
       ) counted) as pending,
       (select count(*)::int from (select from deliveries where ${waiting} limit ${countMax}) counted) as retries,
       (select ${msSql('min(next_attempt_at)')} from deliveries where ${waiting}) as due_ms,
       (select last_error from deliveries where ${waiting} order by next_attempt_at desc limit 1) as last_error
     from subscriptions s where s.workspace_id = $1 and s.id = $2`,
    [workspaceId, id, now?.toISOString() ?? null],
  );
  return row;
}

async function setNextWake(
  em: EntityManager,
  { workspaceId, id }: SubscriptionKey,
  at: Date | null,
) {
  await query(
    em,
    `update subscriptions set next_wake_at = $3::timestamptz
     where workspace_id = $1 and id = $2 and next_wake_at is distinct from $3::timestamptz`,
    [workspaceId, id, at?.toISOString() ?? null],
  );
}
