import type { CustomEventInput } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import type { Context, Methods } from '../context.ts';
import { type EventRow, readEvent } from '../custom-events/input.ts';
import { type CustomEventOutcome, upsertEvents } from '../custom-events/queries.ts';

export function importCustomEvents(context: Context): Methods['importCustomEvents'] {
  return async ({ workspaceId, events }) => {
    const at = context.now();
    const judged = await mapInTurns(events, (event) => judge(event, at));
    const rows = lastOfEach(judged);
    const outcomes = await upsertEvents(context, { workspaceId, rows, at, reads: false });
    const actions = new Map(rows.map((row, index) => [row, outcomes[index]?.action]));
    const results = judged.map((each) => resultOf(each, actions));
    const eventIds = results.flatMap(({ externalId, error }) =>
      error === undefined ? [externalId] : [],
    );
    return { eventIds, count: eventIds.length, results };
  };
}

type Judged = { row: EventRow; error: string | undefined };

function judge(event: CustomEventInput, at: Date): Judged {
  const { row, faults } = readEvent({ ...event, source: event.source || 'import' }, at);
  // What the gateway could read of such a row is incomplete.
  return { row, error: event.rowError || faults[0]?.description };
}

/**
 * The good rows; of those with the same key the one that happened last, and of several at that time
 * the last one.
 */
function lastOfEach(judged: readonly Judged[]): EventRow[] {
  const last = new Map<string, EventRow>();
  for (const { row, error } of judged) {
    if (error !== undefined) continue;
    const key = `${row.eventName} ${row.externalId}`;
    const known = last.get(key);
    if (!known || row.occurredAt >= known.occurredAt) last.set(key, row);
  }
  return [...last.values()];
}

function resultOf(
  { row, error }: Judged,
  actions: ReadonlyMap<EventRow, CustomEventOutcome['action'] | undefined>,
) {
  const { externalId } = row;
  if (error !== undefined) return { externalId, action: 'error', error };
  return { externalId, action: actions.get(row) ?? 'ignore' };
}
