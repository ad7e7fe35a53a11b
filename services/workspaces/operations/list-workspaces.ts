import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { createAuthorize } from '../members/authorize.ts';
import { workspaceMessage, workspaceName } from '../views/workspace.ts';
import { Member, mayReadSettings, Workspace } from '../workspace.ts';
import { findIntegrations } from '../workspace-queries.ts';

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
    const readers = members.filter(mayReadSettings).map((member) => member.workspace_id);
    const readable = new Set(root ? workspaces.map(({ id }) => id) : readers);
    const integrations = await findIntegrations(em, [...readable]);
    return {
      workspaces: workspaces.map((workspace) =>
        readable.has(workspace.id)
          ? workspaceMessage(workspace, integrations)
          : workspaceName(workspace),
      ),
    };
  };
}
