import { type EventBatch, eventsOf } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { microsOf } from '../contact/values.ts';
import type { Given } from './given.ts';

export type TakenEvent = { type: string; data: Record<string, unknown> };

type Key = { consumer: string; workspaceId: string };

/** Removes and returns the queued events of a workspace for a consumer. */
export async function takeEvents(given: Given, key: Key): Promise<TakenEvent[]> {
  return (await takeTimedEvents(given, key)).map(({ type, data }) => ({ type, data }));
}

/** The same, with their times in microseconds since 1970. */
export async function takeTimedEvents(
  { context }: Given,
  { consumer, workspaceId }: Key,
): Promise<(TakenEvent & { at: bigint })[]> {
  const rows = await query<{ payload: EventBatch }>(
    context.store.fork(),
    `delete from contacts_jobs._private_jobs
     where payload->>'consumer' = $1 and payload->>'workspaceId' = $2
     returning payload`,
    [consumer, workspaceId],
  );
  return rows
    .flatMap(({ payload }) => eventsOf(payload))
    .map(({ type, dataJson, occurredAt }) => ({
      ...{ type, data: JSON.parse(dataJson), at: microsOf(occurredAt) ?? 0n },
    }));
}
