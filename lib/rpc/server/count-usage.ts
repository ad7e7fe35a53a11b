import type { ServiceImpl } from '@connectrpc/connect';
import type { WorkspaceDataService } from '#gen/postrider/events/v1/events_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import { callerOf } from './access.ts';

/** The RPC of every service that keeps anything under a quota. */
export function countUsage(
  quotas: Pick<Quotas, 'usage'>,
): ServiceImpl<typeof WorkspaceDataService>['countUsage'] {
  return async ({ workspaceId }, call) => {
    if (callerOf(call).subject !== 'workspaces') {
      throw refusal('SERVICES_ONLY', 'only the workspaces service may call this');
    }
    return { counted: await quotas.usage(workspaceId) };
  };
}
