import type { ServiceImpl } from '@connectrpc/connect';
import type { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';

export function count({ store }: Context): ServiceImpl<typeof ContactService>['countContacts'] {
  return async ({ workspaceId }) => {
    const [row] = await query<{ count: number }>(
      store.fork(),
      'select count(*)::int as count from contacts where workspace_id = $1',
      [workspaceId],
    );
    return { totalContacts: row?.count ?? 0 };
  };
}
