import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { visibleWorkspaces } from '../members/visible-workspaces.ts';

export function listWorkspaces(context: Context): Methods['listWorkspaces'] {
  return async (_, call) => ({ workspaces: await visibleWorkspaces(context, callerOf(call)) });
}
