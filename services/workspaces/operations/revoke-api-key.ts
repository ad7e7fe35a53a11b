import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { keyNotFound } from '../keys/api-key.ts';
import { isUuid } from '../user.ts';

/** The row goes with its tokens and its membership, so that processes of any version refuse the key. */
export function revokeAPIKey({ store }: Context): Methods['revokeAPIKey'] {
  return async ({ workspaceId, id }) => {
    if (!isUuid(id)) throw keyNotFound();
    const rows = await query(
      store.fork(),
      `delete from users using members
       where users.id = $1 and users.type = 'api_key'
         and members.user_id = users.id and members.workspace_id = $2
       returning 1`,
      [id, workspaceId],
    );
    if (rows.length === 0) throw keyNotFound();
    return { status: 'success' };
  };
}
