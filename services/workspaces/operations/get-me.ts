import { refusal } from '#lib/errors/reasons.ts';

import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { visibleWorkspaces } from '../members/visible-workspaces.ts';
import { User } from '../user.ts';
import { userMessage } from '../views/user.ts';

export function getMe(context: Context): Methods['getMe'] {
  return async (_, call) => {
    const caller = callerOf(call);
    const user = await context.store
      .fork()
      .findOneOrFail(
        User,
        { id: caller.subject },
        { failHandler: () => refusal('USER_NOT_FOUND', 'User not found') },
      );
    return { user: userMessage(user), workspaces: await visibleWorkspaces(context, caller) };
  };
}
