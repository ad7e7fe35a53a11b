import type { ServiceImpl } from '@connectrpc/connect';
import type { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Context } from '../context.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export function getEmailHmacKey({
  store,
  keyring,
}: Context): ServiceImpl<typeof WorkspaceService>['getEmailHmacKey'] {
  return ({ workspaceId }) =>
    store.fork().transactional(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      const key = workspace.sealed_hmac_key
        ? keyring.decrypt(workspace.sealed_hmac_key)
        : workspace.newHmacKey(keyring);
      return { key };
    });
}
