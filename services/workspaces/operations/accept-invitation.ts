import { query } from '#lib/postgres/query.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { shownPermissions } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { hashOf, invitationNotFound, workspaceOfToken } from '../members/invitation.ts';
import type { Permissions } from '../workspace.ts';

export function acceptInvitation({ store, now }: Context): Methods['acceptInvitation'] {
  return async ({ token: given }, call) => {
    const { type, subject } = callerOf(call);
    const token = given.trim();
    const workspaceId = workspaceOfToken(token);
    // The address of an API key is not anybody's.
    if (type !== 'user') throw invitationNotFound();
    await store.fork().transactional(async (em) => {
      const [accepted] = await query<{ id: string; permissions: Permissions }>(
        em,
        `with used as (
           delete from invitations using users
           where invitations.workspace_id = $1 and users.id = $2 and users.type = 'user'
             and invitations.email = users.email and token_hash = $3 and invitations.expires_at > $4
           returning invitations.id, invitations.permissions
         ), joined as (
           insert into members (workspace_id, user_id, role, permissions, created_at)
           select $1, $2, 'member', permissions, $4 from used
           on conflict (workspace_id, user_id) do nothing
         )
         select id, permissions from used`,
        [workspaceId, subject, hashOf(token), now()],
      );
      if (!accepted) throw invitationNotFound();
      const after = { permissions: shownPermissions(accepted.permissions) };
      await recordChange(em, call, { workspaceId, targetId: accepted.id, after });
    });
    return { status: 'success', message: 'Invitation accepted successfully', workspaceId };
  };
}
