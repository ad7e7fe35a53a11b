import type { Context, Methods } from '../context.ts';

export function listMissingNotifications({
  transactional,
}: Context): Methods['listMissingNotifications'] {
  return async ({ workspaceId, ids }) => {
    const found = await transactional.notifications.find(workspaceId, ids);
    return { ids: ids.filter((id) => !found.has(id)) };
  };
}
