import { query } from '#lib/postgres/query.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { addErasing } from '../deletion/deletions.ts';
import { lockAsOwner } from '../members/members.ts';

/** They let people in, have secrets for mails, or are wanted by other workspaces. */
const deletedTables = [
  ...['members', 'invitations', 'integrations'],
  ...['domain_owners', 'dkim_keys', 'sending_domains'],
];

/** From now on no call finds a member, key, setting or integration of the workspace. */
export function deleteWorkspace({ store, now, dataServices }: Context): Methods['deleteWorkspace'] {
  return async ({ id }, call) => {
    await store.fork().transactional(async (em) => {
      const workspace = await lockAsOwner(em, call, id);
      workspace.deleted_at = now();
      workspace.sealed_hmac_key = null;
      await em.flush();
      await query(
        em,
        `delete from users using members
         where members.workspace_id = $1 and users.id = members.user_id and users.type = 'api_key'`,
        [id],
      );
      for (const table of deletedTables) {
        await query(em, `delete from ${table} where workspace_id = $1`, [id]);
      }
      await query(
        em,
        'insert into deletions (id, deleted_at, deleted_by, services_left) values ($1, $2, $3, $4)',
        [id, now(), callerOf(call).subject, [...Object.keys(dataServices), 'workspaces']],
      );
      await addErasing(em, id);
    });
    return { status: 'success' };
  };
}
