import type { ServiceImpl } from '@connectrpc/connect';
import type { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type { Context } from '../../context.ts';
import { findList } from '../../list-queries.ts';

export function get({ store }: Context): ServiceImpl<typeof ListService>['getList'] {
  return async ({ workspaceId, id }) => {
    const list = await findList(store.fork(), { workspaceId, id });
    return { list: list.toMessage() };
  };
}
