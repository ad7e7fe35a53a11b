import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

export function countContacts({ store }: Context): Methods['countContacts'] {
  return async ({ workspaceId }) => {
    const [row] = await query<{ count: number }>(
      store.fork(),
      'select count(*)::int as count from contacts where workspace_id = $1',
      [workspaceId],
    );
    return { totalContacts: row?.count ?? 0 };
  };
}
