import type { Claims } from '#lib/keys/keyring.ts';
import { workspaceMessage, workspaceName } from '../views/workspace.ts';
import { Member, mayReadSettings, Workspace } from '../workspace.ts';
import { findIntegrations } from '../workspace-queries.ts';
import { createAuthorize, type Directory } from './authorize.ts';

const workspacesMax = 1_000;

/**
 * The workspaces of a caller, by id; root users see all. Settings are left out where the caller may
 * not read them.
 */
export async function visibleWorkspaces(context: Directory, { subject, sessionId }: Claims) {
  const em = context.store.fork();
  const { root } = await createAuthorize(context)(subject, sessionId, '');
  const members = root ? [] : await em.find(Member, { user_id: subject });
  const ids = members.map((member) => member.workspace_id);
  const where = { deleted_at: null, ...(root ? {} : { id: { $in: ids } }) };
  const workspaces = await em.find(Workspace, where, {
    orderBy: { id: 'asc' },
    limit: workspacesMax,
  });
  const readers = members.filter(mayReadSettings).map((member) => member.workspace_id);
  const readable = new Set(root ? workspaces.map(({ id }) => id) : readers);
  const integrations = await findIntegrations(em, [...readable]);
  return workspaces.map((workspace) =>
    readable.has(workspace.id)
      ? workspaceMessage(workspace, integrations)
      : workspaceName(workspace),
  );
}
