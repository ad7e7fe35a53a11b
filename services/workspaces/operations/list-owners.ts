import type { Context, Methods } from '../context.ts';
import { findOwners } from '../members/owners.ts';
import { findWorkspace } from '../workspace-queries.ts';

export function listOwners({ store }: Context): Methods['listOwners'] {
  return async ({ workspaceId }) => {
    const em = store.fork();
    const { name } = await findWorkspace(em, workspaceId);
    const owners = await findOwners(em, workspaceId);
    return { workspaceName: name, emails: owners.map(({ email }) => email) };
  };
}
