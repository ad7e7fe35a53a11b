import { retentionJob } from '#lib/jobs/retention.ts';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { eventIdAt } from '../delivery.ts';
import { deleteDeliveries, deleteStrayEvents } from '../matching/delete-deliveries.ts';

const stepRows = 5_000;
const dayMs = 24 * 60 * 60 * 1_000;
const callTimeoutMs = 5_000;

type ClearingContext = Pick<Context, 'store' | 'now'> & {
  workspaces: Pick<Context['workspaces'], 'getSettings'>;
};

/** Deletes deliveries that are older than their workspace keeps them, and events without any. */
export function clearDeliveries(
  { store, now, workspaces }: ClearingContext,
  log: Pick<Log, 'warn'>,
) {
  return retentionJob(
    { store, log },
    {
      ...{ service: 'webhooks', task: 'clearDeliveries', what: 'old webhook deliveries' },
      ...{ rows: ['deliveries where true', 'events where true'], stepRows },
      clear: async (workspaceId, repeat) => {
        const timeoutMs = callTimeoutMs;
        const { settings } = await workspaces.getSettings({ workspaceId }, { timeoutMs });
        const days = settings?.webhookRetentionDays ?? 30;
        const before = new Date(now().getTime() - days * dayMs);
        // Deliveries first: an event is left while it has any.
        await repeat(() => deliveriesStep(store, workspaceId, before));
        await repeat(() => eventsStep(store, workspaceId, before));
      },
    },
  );
}

function deliveriesStep(store: Store, workspaceId: string, before: Date): Promise<number> {
  const chosen = `select id from deliveries where workspace_id = $1 and created_at < $2 order by created_at limit ${stepRows}`;
  return deleteDeliveries(store.fork(), chosen, [workspaceId, before]);
}

function eventsStep(store: Store, workspaceId: string, before: Date): Promise<number> {
  const chosen = `select id from events where workspace_id = $1 and id < $2::uuid order by id limit ${stepRows}`;
  return deleteStrayEvents(store.fork(), chosen, [workspaceId, eventIdAt(before)]);
}
