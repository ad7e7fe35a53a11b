import { type EventBatch, eventsOf } from '#lib/jobs/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import type { Given } from './given.ts';

export type TakenEvent = { type: string; data: Record<string, unknown> };

/** Removes and returns the queued events of a workspace for a consumer. */
export async function takeEvents(
  { context }: Given,
  { consumer, workspaceId }: { consumer: string; workspaceId: string },
): Promise<TakenEvent[]> {
  const rows = await query<{ payload: EventBatch }>(
    context.store.fork(),
    `delete from contacts_jobs._private_jobs
     where payload->>'consumer' = $1 and payload->>'workspaceId' = $2
     returning payload`,
    [consumer, workspaceId],
  );
  return rows
    .flatMap(({ payload }) => eventsOf(payload))
    .map(({ type, dataJson }) => ({ type, data: JSON.parse(dataJson) }));
}
