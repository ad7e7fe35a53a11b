import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { shownPermissions } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { findMember, lockAsOwner } from '../members/members.ts';

export function removeMember({ store }: Context): Methods['removeMember'] {
  return async ({ workspaceId, userId }, call) => {
    await store.fork().transactional(async (em) => {
      await lockAsOwner(em, call, workspaceId);
      const { role, type, email, permissions } = await findMember(em, workspaceId, userId);
      if (role === 'owner') await requireAnotherOwner(em, workspaceId);
      if (type === 'api_key') await query(em, 'delete from users where id = $1', [userId]);
      await query(em, 'delete from members where workspace_id = $1 and user_id = $2', [
        workspaceId,
        userId,
      ]);
      const before = { email, role, permissions: shownPermissions(permissions) };
      await recordChange(em, call, { before });
    });
    return { status: 'success', message: 'Member removed successfully' };
  };
}

async function requireAnotherOwner(em: EntityManager, workspaceId: string): Promise<void> {
  const owners = await query(
    em,
    `select 1 from members where workspace_id = $1 and role = 'owner' limit 2`,
    [workspaceId],
  );
  if (owners.length < 2) {
    throw refusal(
      'LAST_OWNER',
      'the last owner cannot leave the workspace; transfer the ownership first',
    );
  }
}
