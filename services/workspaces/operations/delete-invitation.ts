import { query } from '#lib/postgres/query.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { invitationNotFound } from '../members/invitation.ts';
import { isUuid } from '../user.ts';

export function deleteInvitation({ store }: Context): Methods['deleteInvitation'] {
  return async ({ workspaceId, invitationId }, call) => {
    if (!isUuid(invitationId)) throw invitationNotFound();
    await store.fork().transactional(async (em) => {
      const [before] = await query<{ email: string }>(
        em,
        'delete from invitations where workspace_id = $1 and id = $2 returning email',
        [workspaceId, invitationId],
      );
      if (!before) throw invitationNotFound();
      await recordChange(em, call, { before });
    });
    return { status: 'success', message: 'Invitation deleted successfully' };
  };
}
