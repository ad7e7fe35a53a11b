import { refusal } from '#lib/errors/reasons.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { changeMember, findMember, lockAsOwner } from '../members/members.ts';
import { everything } from '../members/permissions.ts';

export function transferOwnership({ store }: Context): Methods['transferOwnership'] {
  return async ({ workspaceId, userId }, call) => {
    await store.fork().transactional(async (em) => {
      await lockAsOwner(em, call, workspaceId);
      const { role, type } = await findMember(em, workspaceId, userId);
      if (type === 'api_key') throw refusal('MEMBER_ROLE', 'an API key cannot own a workspace');
      if (role === 'owner') throw refusal('MEMBER_ROLE', 'the member is an owner already');
      const caller = { workspaceId, userId: callerOf(call).subject };
      await changeMember(em, { workspaceId, userId }, { role: 'owner', permissions: {} });
      await changeMember(em, caller, { role: 'member', permissions: everything() });
      await recordChange(em, call, {
        before: { owner: caller.userId },
        after: { owner: userId },
      });
    });
    return { status: 'success', message: 'Ownership transferred successfully' };
  };
}
