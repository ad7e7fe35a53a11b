import type { ServiceImpl } from '@connectrpc/connect';
import type { WorkspaceDataService } from '#gen/postrider/events/v1/events_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { type ErasedTable, erase } from '../../postgres/erase.ts';
import type { Store } from '../../postgres/store.ts';
import { callerOf } from './access.ts';

type Methods = ServiceImpl<typeof WorkspaceDataService>;

/**
 * The RPC of every service: erases `parts` of a workspace in their order, so what runs comes first.
 */
export function eraseWorkspace(
  store: Store,
  parts: readonly ErasedTable[],
): Methods['eraseWorkspace'] {
  return async ({ workspaceId }, call) => {
    if (callerOf(call).subject !== 'workspaces') {
      throw refusal('SERVICES_ONLY', 'only the workspaces service may call this');
    }
    const { erased, left } = await erase(store, workspaceId, parts);
    return { erased: BigInt(erased), left };
  };
}
