import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/**
 * Notifications that name an integration or have messages in the queue for it, or with
 * `withUnbound` those that name none as well.
 */
export const boundToIntegration = (withUnbound: boolean) => `
  select 'notification' as kind, name from notifications where workspace_id = $1
    and (integration_id = $2${withUnbound ? " or integration_id = ''" : ''})
  union
  select 'notification', coalesce(n.name, nullif(q.notification_id, ''), 'mails with content of their own')
  from (
    select distinct m.notification_id
    from message_requests r join messages m on m.id = r.message_id and m.workspace_id = $1
    where r.workspace_id = $1 and r.due_at is not null and m.integration_id = $2
      and m.status in ('deferred', 'sending')
  ) q left join notifications n on n.workspace_id = $1 and n.id = q.notification_id`;

/** Binds messages of the queue to another integration. */
export async function bindQueued(
  store: Store,
  workspaceId: string,
  { ids, integrationId }: { ids: readonly string[]; integrationId: string },
): Promise<void> {
  await query(
    store.fork(),
    `update messages set integration_id = $3, updated_at = now()
     where workspace_id = $1 and id = any($2::uuid[]) and status in ('deferred', 'sending')`,
    [workspaceId, ids, integrationId],
  );
}
