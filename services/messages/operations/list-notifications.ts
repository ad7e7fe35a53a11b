import type { Context, Methods } from '../context.ts';
import { Notification } from '../notification.ts';
import { toNotification } from '../views/notification.ts';

const defaultLimit = 50;

export function listNotifications({ store }: Context): Methods['listNotifications'] {
  return async ({ workspaceId, search, limit = defaultLimit, offset }) => {
    // Backslash is ILIKE's own escape.
    const text = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    const matching = { $or: [{ id: { $ilike: text } }, { name: { $ilike: text } }] };
    // A workspace has few of them, so they need no index beside the key.
    const [found, total] = await store
      .fork()
      .findAndCount(
        Notification,
        { workspace_id: workspaceId, ...(search === '' ? {} : matching) },
        { orderBy: { created_at: 'desc', id: 'asc' }, limit, offset },
      );
    return { notifications: found.map(toNotification), total };
  };
}
