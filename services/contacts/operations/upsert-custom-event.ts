import { groupedCalls } from '../changes/grouped-calls.ts';
import { withinQuota } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';
import { type EventRow, requireEvent } from '../custom-events/input.ts';
import { upsertEvents } from '../custom-events/queries.ts';
import { customEventMessage } from '../views/custom-event.ts';

type Upsert = { workspaceId: string; row: EventRow };

export function upsertCustomEvent(context: Context): Methods['upsertCustomEvent'] {
  const upsert = groupedCalls<Upsert, string>({
    kindOf: () => '',
    rowOf: ({ row }) => [row.eventName, row.externalId],
    write: (workspaceId, upserts) => upsertAll(context, workspaceId, upserts),
  });
  return async ({ workspaceId, ...given }, call) => {
    const row = requireEvent({ ...given, source: 'api' }, context.now());
    context.quotas.requireRoom(workspaceId, 'custom_events');
    return { event: customEventMessage(await upsert({ workspaceId, row }, call)) };
  };
}

/** The events as they are stored. */
function upsertAll(
  context: Context,
  workspaceId: string,
  upserts: readonly Upsert[],
): Promise<(string | Error)[]> {
  const scope = { em: context.store.fork(), quotas: context.quotas, workspaceId };
  return withinQuota(scope, upserts, {
    emailOf: ({ row }) => (row.deletedAt === undefined ? row.email : undefined),
    write: async (within) => {
      const rows = within.map(({ row }) => row);
      const upsert = { workspaceId, rows, at: context.now(), reads: true };
      const outcomes = await upsertEvents(context, upsert);
      return outcomes.map(({ event = '{}' }) => event);
    },
  });
}
