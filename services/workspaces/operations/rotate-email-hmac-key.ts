import type { ServiceImpl } from '@connectrpc/connect';
import type { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Context } from '../context.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export function rotateEmailHmacKey({
  store,
  keyring,
}: Context): ServiceImpl<typeof WorkspaceService>['rotateEmailHmacKey'] {
  return ({ workspaceId }) =>
    store.fork().transactional(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      return { key: workspace.newHmacKey(keyring) };
    });
}
