import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { findWorkspace } from '../workspace-queries.ts';

const ownersMax = 100;

export function listOwners({ store }: Context): Methods['listOwners'] {
  return async ({ workspaceId }) => {
    const em = store.fork();
    const { name } = await findWorkspace(em, workspaceId);
    const rows = await query<{ email: string }>(
      em,
      `select users.email from members join users on users.id = members.user_id
       where members.workspace_id = $1 and members.role = 'owner' and users.type = 'user'
       order by members.created_at, users.email limit ${ownersMax}`,
      [workspaceId],
    );
    return { workspaceName: name, emails: rows.map(({ email }) => email) };
  };
}
