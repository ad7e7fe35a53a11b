import { Code, ConnectError } from '@connectrpc/connect';
import { addJob } from '#lib/jobs/jobs.ts';
import { pagedSql } from '#lib/postgres/page-indexes.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { satellites } from '../message-queries.ts';
import { clearRequests } from '../record/confirmations.ts';
import { countMissing } from '../record/recount.ts';

const stepSize = 500;
const dayMs = 24 * 60 * 60 * 1_000;
const everyMs = 60 * 60 * 1_000;
const soonMs = 1_000;
/** Jobs count as lost after two minutes. */
const workMaxMs = 40_000;

type Clearing = Pick<Context, 'store' | 'now' | 'plans' | 'log'>;

/** Queues the next clearing; one that waits already is moved. */
export async function addClearing(em: EntityManager, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  await addJob(em, 'messages', { task: 'clearMessages', payload: {}, key: 'clearMessages', runAt });
}

/**
 * Deletes messages that are older than their workspace keeps them, in steps, every hour; more often
 * while there is much to delete. Counts of broadcasts are kept beside them, and stay. What is still
 * to be sent stays, too.
 */
export function clearMessages(context: Clearing) {
  return async (): Promise<void> => {
    const isDone = await clearAll(context);
    await addClearing(context.store.fork(), isDone ? everyMs : soonMs);
  };
}

/** Whether it came to the end. A workspace that can't be asked is left for later. */
async function clearAll({ store, now, plans, log }: Clearing): Promise<boolean> {
  const endsAtMs = Date.now() + workMaxMs;
  while ((await clearRequests(store, stepSize)) === stepSize)
    if (Date.now() > endsAtMs) return false;
  for (
    let workspaceId = await workspaceAfter(store, '');
    workspaceId !== undefined;
    workspaceId = await workspaceAfter(store, workspaceId)
  ) {
    try {
      const days = await daysOf(plans, workspaceId);
      const before = new Date(now().getTime() - days * dayMs);
      if (days > 0 && !(await clearWorkspace(store, { workspaceId, before, endsAtMs })))
        return false;
    } catch (err) {
      log.warn({ err, workspaceId }, 'old messages were not all deleted; trying again later');
    }
    if (Date.now() > endsAtMs) return false;
  }
  return true;
}

/** 0 if they are kept for good. */
async function daysOf(plans: Context['plans'], workspaceId: string): Promise<number> {
  try {
    const { settings } = await plans.settings(workspaceId);
    return settings?.messageRetentionDays ?? 0;
  } catch (error) {
    // A deleted workspace is erased.
    if (error instanceof ConnectError && error.code === Code.NotFound) return 0;
    throw error;
  }
}

type Part = { workspaceId: string; before: Date; endsAtMs: number };

async function clearWorkspace(
  store: Store,
  { workspaceId, before, endsAtMs }: Part,
): Promise<boolean> {
  const uncounted = await query<{ id: string }>(
    store.fork(),
    'select broadcast_id as id from uncounted_broadcasts where workspace_id = $1',
    [workspaceId],
  );
  for (const { id } of uncounted) await countMissing(store, workspaceId, id);
  while ((await deleteStep(store, workspaceId, before)) === stepSize) {
    if (Date.now() > endsAtMs) return false;
  }
  return true;
}

/** One step through the index. */
async function workspaceAfter(store: Store, workspaceId: string): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(
    store.fork(),
    `select workspace_id as id from messages where workspace_id > $1 and ${pagedSql('messages')}
     order by workspace_id limit 1`,
    [workspaceId],
  );
  return row?.id;
}

/**
 * The workspace is hidden from the planner, so that what belongs to a message is found by its key.
 */
export const deleteSql = `with gone as materialized (
     delete from messages where ctid = any(array(
       select ctid from messages m
       where workspace_id = $1 and created_at < $2 and ${pagedSql('m')} and status not in ('sending', 'deferred')
         and not exists (
           select from uncounted_broadcasts u where u.workspace_id = $1 and u.broadcast_id = m.broadcast_id
         )
       order by created_at limit ${stepSize} for update skip locked
     )) returning id
   ), ${satellites
     .map(
       (table) => `gone_${table} as (
         delete from ${table} t using gone where t.message_id = gone.id and t.workspace_id || '' = $1
       )`,
     )
     .join(', ')}
   select count(*)::int as count from gone`;

async function deleteStep(store: Store, workspaceId: string, before: Date): Promise<number> {
  const [row] = await query<{ count: number }>(store.fork(), deleteSql, [workspaceId, before]);
  return row?.count ?? 0;
}
