import type { ServiceImpl } from '@connectrpc/connect';
import type { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Context } from '../context.ts';
import { workspaceMessage } from '../workspace-queries.ts';

export function get({ store }: Context): ServiceImpl<typeof WorkspaceService>['getWorkspace'] {
  return async ({ id }) => ({ workspace: await workspaceMessage(store.fork(), id) });
}
