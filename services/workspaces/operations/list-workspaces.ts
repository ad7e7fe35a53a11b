import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { createAuthorize } from '../members/authorize.ts';
import { workspaceMessages, workspaceNames } from '../views/workspace.ts';
import { Member, mayReadSettings, Workspace } from '../workspace.ts';

const workspacesMax = 1_000;

export function listWorkspaces(context: Context): Methods['listWorkspaces'] {
  return async (_, call) => {
    const em = context.store.fork();
    const { subject, sessionId } = callerOf(call);
    const { root } = await createAuthorize(context)(subject, sessionId, '');
    const members = root ? [] : await em.find(Member, { user_id: subject });
    const ids = members.map((member) => member.workspace_id);
    const where = root ? {} : { id: { $in: ids } };
    const workspaces = await em.find(Workspace, where, {
      orderBy: { id: 'asc' },
      limit: workspacesMax,
    });
    if (root) return { workspaces: await workspaceMessages(em, workspaces) };
    const readable = new Set(members.filter(mayReadSettings).map((member) => member.workspace_id));
    const whole = await workspaceMessages(
      em,
      workspaces.filter(({ id }) => readable.has(id)),
    );
    const rest = workspaceNames(workspaces.filter(({ id }) => !readable.has(id)));
    return { workspaces: [...whole, ...rest].toSorted(byId) };
  };
}

function byId(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}
