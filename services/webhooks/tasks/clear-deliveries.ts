import { addJob } from '#lib/jobs/jobs.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { eventIdAt } from '../delivery.ts';
import { deleteDeliveries, deleteStrayEvents } from '../erasing/deliveries.ts';

const stepSize = 5_000;
const dayMs = 24 * 60 * 60 * 1_000;
const everyMs = 60 * 60 * 1_000;
const soonMs = 1_000;
const callTimeoutMs = 5_000;
/** Jobs count as lost after two minutes. */
const workMaxMs = 40_000;
/** Of one workspace in a run. */
const workspaceMaxMs = 5_000;

type Clearing = Pick<Context, 'store' | 'now'> & {
  workspaces: Pick<Context['workspaces'], 'getSettings'>;
};

/** Queues the next clearing; one that waits already is moved. */
export async function addClearing(em: EntityManager, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  const job = { task: 'clearDeliveries', payload: {}, key: 'clearDeliveries', runAt };
  await addJob(em, 'webhooks', job);
}

/**
 * Deletes deliveries that are older than their workspace keeps them, in steps, every hour; more
 * often while there is much to delete.
 */
export function clearDeliveries(context: Clearing, { log }: { log: Pick<Log, 'warn'> }) {
  return async (): Promise<void> => {
    const isDone = await clearAll(context, log);
    await addClearing(context.store.fork(), isDone ? everyMs : soonMs);
  };
}

/** Whether it came to the end. A workspace whose settings cannot be read is left for later. */
async function clearAll(context: Clearing, log: Pick<Log, 'warn'>): Promise<boolean> {
  const endsAtMs = Date.now() + workMaxMs;
  let isDone = true;
  for (const workspaceId of await workspacesWithRows(context.store)) {
    try {
      const ownEndMs = Math.min(endsAtMs, Date.now() + workspaceMaxMs);
      if (!(await clearOne(context, workspaceId, ownEndMs))) isDone = false;
    } catch (err) {
      log.warn({ err, workspaceId }, 'old webhook deliveries were not deleted; trying again later');
    }
    if (Date.now() > endsAtMs) return false;
  }
  return isDone;
}

async function clearOne(
  { store, workspaces, now }: Clearing,
  workspaceId: string,
  endsAtMs: number,
): Promise<boolean> {
  const { settings } = await workspaces.getSettings({ workspaceId }, { timeoutMs: callTimeoutMs });
  const days = settings?.webhookRetentionDays ?? 30;
  const before = new Date(now().getTime() - days * dayMs);
  // Deliveries first: an event is left while it has any.
  for (const step of [deliveriesStep, eventsStep]) {
    while ((await step(store, workspaceId, before)) === stepSize) {
      if (Date.now() > endsAtMs) return false;
    }
  }
  return true;
}

async function workspacesWithRows(store: Store): Promise<string[]> {
  const tables = ['deliveries', 'events'];
  const found = await Promise.all(tables.map((table) => workspacesIn(store, table)));
  return [...new Set(found.flat())];
}

/** Jumps from workspace to workspace through the index. */
async function workspacesIn(store: Store, table: string): Promise<string[]> {
  const rows = await query<{ id: string }>(
    store.fork(),
    `with recursive found as (
       (select workspace_id from ${table} order by workspace_id limit 1)
       union all
       select (
         select workspace_id from ${table}
         where workspace_id > found.workspace_id order by workspace_id limit 1
       ) from found where found.workspace_id is not null
     )
     select workspace_id as id from found where workspace_id is not null`,
    [],
  );
  return rows.map(({ id }) => id);
}

function deliveriesStep(store: Store, workspaceId: string, before: Date): Promise<number> {
  const chosen = `select id from deliveries where workspace_id = $1 and created_at < $2 order by created_at limit ${stepSize}`;
  return deleteDeliveries(store.fork(), chosen, [workspaceId, before]);
}

function eventsStep(store: Store, workspaceId: string, before: Date): Promise<number> {
  const chosen = `select id from events where workspace_id = $1 and id < $2::uuid order by id limit ${stepSize}`;
  return deleteStrayEvents(store.fork(), chosen, [workspaceId, eventIdAt(before)]);
}
