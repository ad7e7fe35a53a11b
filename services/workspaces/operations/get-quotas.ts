import type { Context, Methods } from '../context.ts';
import { quotasOf } from '../quotas/quotas.ts';
import { Workspace } from '../workspace.ts';

export function getQuotas({ store, quotas }: Context): Methods['getQuotas'] {
  return async ({ workspaceId }) => {
    const workspace = await store.fork().findOne(Workspace, { id: workspaceId });
    return { quotas: quotasOf(workspace?.quotas ?? {}, quotas) };
  };
}
