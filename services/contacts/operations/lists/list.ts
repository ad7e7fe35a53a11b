import type { ServiceImpl } from '@connectrpc/connect';
import type { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type { Context } from '../../context.ts';
import { List } from '../../list.ts';

const listsMax = 1_000;

export function list({ store }: Context): ServiceImpl<typeof ListService>['listLists'] {
  return async ({ workspaceId }) => {
    const lists = await store
      .fork()
      .find(
        List,
        { workspace_id: workspaceId, deleted_at: null },
        { orderBy: { created_at: 'desc', id: 'asc' }, limit: listsMax },
      );
    return { lists: lists.map((row) => row.toMessage()) };
  };
}
