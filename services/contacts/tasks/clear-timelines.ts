import { addJob } from '#lib/jobs/jobs.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { keptSince } from '../timeline/retention.ts';

const stepSize = 5_000;
const everyMs = 60 * 60 * 1_000;
const soonMs = 1_000;
/** Jobs count as lost after two minutes. */
const workMaxMs = 40_000;

type Clearing = Pick<Context, 'store' | 'now' | 'workspaces' | 'quotas'>;

/** Queues the next clearing; one that waits already is moved. */
export async function addClearing(em: EntityManager, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  const job = { task: 'clearTimelines', payload: {}, key: 'clearTimelines', runAt };
  await addJob(em, 'contacts', job);
}

/**
 * Deletes entries that are older than their workspace keeps them, and the oldest beyond its quota,
 * in steps, every hour; more often while there is much to delete.
 */
export function clearTimelines(context: Clearing, log: Pick<Log, 'warn'>) {
  return async (): Promise<void> => {
    const isDone = await clearAll(context, log);
    await addClearing(context.store.fork(), isDone ? everyMs : soonMs);
  };
}

/** Whether it came to the end. A workspace whose settings can't be read is left for later. */
async function clearAll(context: Clearing, log: Pick<Log, 'warn'>): Promise<boolean> {
  const { store, quotas, now } = context;
  const endsAtMs = Date.now() + workMaxMs;
  for (
    let workspaceId = await workspaceAfter(store, '');
    workspaceId !== undefined;
    workspaceId = await workspaceAfter(store, workspaceId)
  ) {
    try {
      const before = await keptSince(context, workspaceId);
      while ((await deleteStep(store, { workspaceId, before }, stepSize)) === stepSize) {
        if (Date.now() > endsAtMs) return false;
      }
      const { used, quota } = await quotas.countNow(workspaceId, 'timeline_entries');
      let excess = used - quota;
      while (excess > 0) {
        const step = Math.min(excess, stepSize);
        const deleted = await deleteStep(store, { workspaceId, before: now() }, step);
        if (Date.now() > endsAtMs) return false;
        excess = deleted === 0 ? 0 : excess - deleted;
      }
    } catch (err) {
      log.warn(
        { err, workspaceId },
        'old timeline entries were not all deleted; trying again later',
      );
    }
    if (Date.now() > endsAtMs) return false;
  }
  return true;
}

/** One step through the index. */
async function workspaceAfter(store: Store, workspaceId: string): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(
    store.fork(),
    `select workspace_id as id from timeline_entries where workspace_id > $1
     order by workspace_id limit 1`,
    [workspaceId],
  );
  return row?.id;
}

/** Deletes the oldest entries before a time. */
async function deleteStep(
  store: Store,
  { workspaceId, before }: { workspaceId: string; before: Date },
  entriesMax: number,
): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from timeline_entries where ctid = any(array(
         select ctid from timeline_entries
         where workspace_id = $1 and created_at < $2 and created_at > '-infinity'
         order by created_at limit $3 for update skip locked
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, before, entriesMax],
  );
  return row?.count ?? 0;
}
