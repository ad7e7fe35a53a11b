import { refusal } from '#lib/errors/reasons.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences, shownPermissions } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { changeMember, findMember, lockAsOwner } from '../members/members.ts';
import { neededPermissions } from '../members/permissions.ts';

export function setUserPermissions({ store }: Context): Methods['setUserPermissions'] {
  return async (request, call) => {
    const { workspaceId, userId } = request;
    const permissions = neededPermissions(request);
    await store.fork().transactional(async (em) => {
      await lockAsOwner(em, call, workspaceId);
      const { role, permissions: before } = await findMember(em, workspaceId, userId);
      if (role === 'owner') {
        throw refusal('MEMBER_ROLE', 'an owner has all permissions');
      }
      await changeMember(em, { workspaceId, userId }, { role, permissions });
      const changes = differences(shownPermissions(before), shownPermissions(permissions));
      await recordChange(em, call, changes);
    });
    return { status: 'success', message: 'User permissions updated successfully' };
  };
}
