import type { CustomEventInput } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import type { Context, Methods } from '../context.ts';
import { type EventRow, readEvent } from '../custom-events/input.ts';
import { type CustomEventOutcome, upsertEvents } from '../custom-events/queries.ts';

export function importCustomEvents(context: Context): Methods['importCustomEvents'] {
  return async ({ workspaceId, events }) => {
    const at = context.now();
    const checked = await mapInTurns(events, (event) => checkEvent(event, at));
    const rows = lastOfEach(checked);
    const outcomes = await upsertEvents(context, { workspaceId, rows, at, reads: false });
    const actions = new Map(rows.map((row, index) => [row, outcomes[index]?.action]));
    const results = checked.map((each) => resultOf(each, actions));
    const eventIds = results.flatMap(({ externalId, error }) =>
      error === undefined ? [externalId] : [],
    );
    return { eventIds, count: eventIds.length, results };
  };
}

type CheckedEvent = { row: EventRow; error: string | undefined };

function checkEvent(event: CustomEventInput, at: Date): CheckedEvent {
  const { row, faults } = readEvent({ ...event, source: event.source || 'import' }, at);
  // Where the gateway could not read the row, the rest of it is incomplete.
  return { row, error: event.rowError || faults[0]?.description };
}

/**
 * The good rows; of those with the same key the one that happened last, and of several at that time
 * the last one.
 */
function lastOfEach(checked: readonly CheckedEvent[]): EventRow[] {
  const last = new Map<string, EventRow>();
  for (const { row, error } of checked) {
    if (error !== undefined) continue;
    const key = `${row.eventName} ${row.externalId}`;
    const known = last.get(key);
    if (!known || row.occurredAt >= known.occurredAt) last.set(key, row);
  }
  return [...last.values()];
}

function resultOf(
  { row, error }: CheckedEvent,
  actions: ReadonlyMap<EventRow, CustomEventOutcome['action'] | undefined>,
) {
  const { externalId } = row;
  if (error !== undefined) return { externalId, action: 'error', error };
  return { externalId, action: actions.get(row) ?? 'ignore' };
}
