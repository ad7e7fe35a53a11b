import type { ServiceImpl } from '@connectrpc/connect';
import type { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type { Context } from '../../context.ts';
import { List, listNotFound } from '../../list.ts';

export function get({ store }: Context): ServiceImpl<typeof ListService>['getList'] {
  return async ({ workspaceId, id }) => {
    const key = { workspace_id: workspaceId, id, deleted_at: null };
    const list = await store.fork().findOneOrFail(List, key, { failHandler: listNotFound });
    return { list: list.toMessage() };
  };
}
