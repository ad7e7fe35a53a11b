import { invalidField } from '#lib/errors/errors.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { quotaFault, quotasOf } from '../quotas/quotas.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export function setQuotas({ store, quotas: installation }: Context): Methods['setQuotas'] {
  return async ({ workspaceId, quotas: given }, call) => {
    const quotas = Object.fromEntries(
      Object.entries(given).map(([resource, quota]) => [resource, checked(resource, quota)]),
    );
    await store.fork().transactional(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      const changes = differences(workspace.quotas, quotas);
      workspace.quotas = quotas;
      await em.flush();
      await recordChange(em, call, changes);
    });
    return { quotas: quotasOf(quotas, installation) };
  };
}

function checked(resource: string, quota: bigint): number {
  const fault = quotaFault(resource, Number(quota));
  if (fault) throw invalidField('quotas', fault);
  return Number(quota);
}
