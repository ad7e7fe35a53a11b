import { query } from '#lib/postgres/query.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { keyNotFound } from '../keys/api-key.ts';
import { isUuid } from '../user.ts';

/**
 * The row goes with its tokens and its membership, so that processes of any version refuse the key.
 */
export function revokeAPIKey({ store }: Context): Methods['revokeAPIKey'] {
  return async ({ workspaceId, id }, call) => {
    if (!isUuid(id)) throw keyNotFound();
    await store.fork().transactional(async (em) => {
      const [key] = await query<{ name: string }>(
        em,
        `delete from users using members
         where users.id = $1 and users.type = 'api_key'
           and members.user_id = users.id and members.workspace_id = $2
         returning users.email as name`,
        [id, workspaceId],
      );
      if (!key) throw keyNotFound();
      await recordChange(em, call, differences(key, {}));
    });
    return { status: 'success' };
  };
}
