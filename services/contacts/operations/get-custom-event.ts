import type { Context, Methods } from '../context.ts';
import { customEventJsonSql, customEventNotFound } from '../custom-events/queries.ts';
import { customEventMessage } from '../views/custom-event.ts';

export function getCustomEvent({ store }: Context): Methods['getCustomEvent'] {
  return async ({ workspaceId, eventName, externalId }) => {
    const [row] = await store.read<{ event: string }>(
      `select ${customEventJsonSql('event')}::text as event from custom_events event
       where workspace_id = $1 and event_name = $2 and external_id = $3 and deleted_at is null`,
      [workspaceId, eventName, externalId],
    );
    if (!row) throw customEventNotFound();
    return { event: customEventMessage(row.event) };
  };
}
