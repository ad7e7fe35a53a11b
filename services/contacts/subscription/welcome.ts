import type { Client } from '@connectrpc/connect';
import type { CreateListRequest } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type { NotificationDirectoryService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Welcome } from '../list.ts';

export type Notifications = Pick<
  Client<typeof NotificationDirectoryService>,
  'listMissingNotifications'
>;

/** The welcome of a list, as stored. Refuses one by a notification that does not exist. */
export async function welcomeOf(
  { notifications }: { notifications: Notifications },
  { workspaceId, welcome }: Pick<CreateListRequest, 'workspaceId' | 'welcome'>,
): Promise<Welcome | null> {
  if (!welcome) return null;
  const { notificationId, delaySeconds, includeImports } = welcome;
  const asked = { workspaceId, ids: [notificationId] };
  const { ids: missing } = await notifications.listMissingNotifications(asked);
  if (missing.length > 0) {
    throw invalidField('welcome.notification_id', 'welcome: no notification has this id');
  }
  return {
    notification_id: notificationId,
    delay_seconds: delaySeconds,
    include_imports: includeImports,
  };
}
