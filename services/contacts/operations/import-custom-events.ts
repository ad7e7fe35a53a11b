import type { CustomEventInput } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import type { Context, Methods } from '../context.ts';
import { type EventRow, readEvent } from '../custom-events/input.ts';
import { type CustomEventOutcome, upsertEvents } from '../custom-events/queries.ts';

export function importCustomEvents(context: Context): Methods['importCustomEvents'] {
  return async ({ workspaceId, events }) => {
    const at = context.now();
    const checked = await mapInTurns(events, (event) => checkEvent(event, at));
    const latest = latestOfEach(checked);
    const rows = latest.map(({ merged }) => merged);
    const outcomes = await upsertEvents(context, { workspaceId, rows, at, reads: false });
    const actions = new Map(latest.map(({ row }, index) => [row, outcomes[index]?.action]));
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

/** A row, and the event that it makes together with earlier rows. */
type LatestEvent = { row: EventRow; merged: EventRow };

/**
 * The good rows; of those with the same key the one that happened last, and of several at that time
 * the last one. It keeps the goal of the ones before it where it has none, as of a stored event.
 */
function latestOfEach(checked: readonly CheckedEvent[]): LatestEvent[] {
  const latest = new Map<string, LatestEvent>();
  for (const { row, error } of checked) {
    if (error !== undefined) continue;
    const key = `${row.eventName} ${row.externalId}`;
    const before = latest.get(key)?.merged;
    if (before && row.occurredAt < before.occurredAt) continue;
    latest.set(key, { row, merged: before ? withGoalOf(before, row) : row });
  }
  return [...latest.values()];
}

function withGoalOf(before: EventRow, row: EventRow): EventRow {
  const { goalName = before.goalName, goalType = before.goalType } = row;
  return { ...row, goalName, goalType, goalValue: row.goalValue ?? before.goalValue };
}

function resultOf(
  { row, error }: CheckedEvent,
  actions: ReadonlyMap<EventRow, CustomEventOutcome['action'] | undefined>,
) {
  const { externalId } = row;
  if (error !== undefined) return { externalId, action: 'error', error };
  return { externalId, action: actions.get(row) ?? 'ignore' };
}
