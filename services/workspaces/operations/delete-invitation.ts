import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { invitationNotFound } from '../members/invitation.ts';
import { isUuid } from '../user.ts';

export function deleteInvitation({ store }: Context): Methods['deleteInvitation'] {
  return async ({ workspaceId, invitationId }) => {
    if (!isUuid(invitationId)) throw invitationNotFound();
    const rows = await query(
      store.fork(),
      'delete from invitations where workspace_id = $1 and id = $2 returning 1',
      [workspaceId, invitationId],
    );
    if (rows.length === 0) throw invitationNotFound();
    return { status: 'success', message: 'Invitation deleted successfully' };
  };
}
