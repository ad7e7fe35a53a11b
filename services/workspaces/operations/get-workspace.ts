import type { Context, Methods } from '../context.ts';
import { workspaceMessage } from '../views/workspace.ts';
import { findIntegrations, findWorkspace } from '../workspace-queries.ts';

export function getWorkspace({ store }: Context): Methods['getWorkspace'] {
  return async ({ id }) => {
    const em = store.fork();
    const workspace = await findWorkspace(em, id);
    return { workspace: workspaceMessage(workspace, await findIntegrations(em, [id])) };
  };
}
