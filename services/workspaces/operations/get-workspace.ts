import type { Context, Methods } from '../context.ts';
import { workspaceMessage } from '../views/workspace.ts';

export function getWorkspace({ store }: Context): Methods['getWorkspace'] {
  return async ({ id }) => ({ workspace: await workspaceMessage(store.fork(), id) });
}
