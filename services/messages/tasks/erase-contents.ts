import { Code, ConnectError } from '@connectrpc/connect';
import { addJob } from '#lib/jobs/jobs.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';

/** Contents have up to 1 MiB each. */
const stepSize = 500;
const dayMs = 24 * 60 * 60 * 1_000;
const everyMs = 60 * 60 * 1_000;
const soonMs = 1_000;
/** Jobs count as lost after two minutes. */
const workMaxMs = 40_000;

type Erasing = Pick<Context, 'store' | 'now' | 'plans' | 'log'>;

/** Queues the next look; one that waits already is moved. */
export async function addErasing(em: EntityManager, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  await addJob(em, 'messages', { task: 'eraseContents', payload: {}, key: 'eraseContents', runAt });
}

/**
 * Deletes contents that are older than their workspace keeps them, in steps, every hour; more often
 * while there is much to delete.
 */
export function eraseContents(context: Erasing) {
  return async (): Promise<void> => {
    const isDone = await eraseAll(context);
    await addErasing(context.store.fork(), isDone ? everyMs : soonMs);
  };
}

/** Whether it came to the end. A workspace that can't be asked is left for later. */
async function eraseAll({ store, now, plans, log }: Erasing): Promise<boolean> {
  const endsAtMs = Date.now() + workMaxMs;
  for (
    let workspaceId = await workspaceAfter(store, '');
    workspaceId !== undefined;
    workspaceId = await workspaceAfter(store, workspaceId)
  ) {
    const days = await daysOf(plans, workspaceId, log);
    if (days === undefined) continue;
    const before = new Date(now().getTime() - days * dayMs);
    while ((await eraseStep(store, workspaceId, before)) === stepSize) {
      if (Date.now() > endsAtMs) return false;
    }
    if (Date.now() > endsAtMs) return false;
  }
  return true;
}

async function daysOf(
  plans: Pick<Context['plans'], 'settings'>,
  workspaceId: string,
  log: Pick<Log, 'warn'>,
): Promise<number | undefined> {
  try {
    const { settings } = await plans.settings(workspaceId);
    return settings?.messageContentDays ?? 0;
  } catch (err) {
    if (err instanceof ConnectError && err.code === Code.NotFound) return 0;
    log.warn({ err, workspaceId }, 'old contents of mails were not erased; trying again later');
    return undefined;
  }
}

/** One step through the index. */
async function workspaceAfter(store: Store, workspaceId: string): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(
    store.fork(),
    `select workspace_id as id from message_contents where workspace_id > $1
     order by workspace_id limit 1`,
    [workspaceId],
  );
  return row?.id;
}

async function eraseStep(store: Store, workspaceId: string, before: Date): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from message_contents where workspace_id = $1 and message_id in (
         select message_id from message_contents where workspace_id = $1 and stored_at < $2
         order by stored_at limit ${stepSize}
       ) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, before],
  );
  return row?.count ?? 0;
}
