import { refusal } from '#lib/rpc/reasons.ts';

import type { Context, Methods } from '../context.ts';
import { changeMember, findMember, lockAsOwner } from '../members/members.ts';
import { storedPermissions } from '../members/permissions.ts';

export function setUserPermissions({ store }: Context): Methods['setUserPermissions'] {
  return async ({ workspaceId, userId, permissions: given }, call) => {
    const permissions = storedPermissions(given);
    await store.fork().transactional(async (em) => {
      await lockAsOwner(em, call, workspaceId);
      const { role } = await findMember(em, workspaceId, userId);
      if (role === 'owner') {
        throw refusal('MEMBER_ROLE', 'an owner has all permissions');
      }
      await changeMember(em, { workspaceId, userId }, { role, permissions });
    });
    return { status: 'success', message: 'User permissions updated successfully' };
  };
}
