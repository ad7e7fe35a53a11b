import type { ServiceImpl } from '@connectrpc/connect';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Context } from '../context.ts';
import { Integration, integrationNotFound } from '../integration.ts';

export function getIntegration({
  store,
  keyring,
}: Context): ServiceImpl<typeof WorkspaceDirectoryService>['getIntegration'] {
  return async ({ workspaceId, integrationId }) => {
    const integration = await store
      .fork()
      .findOneOrFail(
        Integration,
        { workspace_id: workspaceId, id: integrationId },
        { failHandler: integrationNotFound },
      );
    const sealed = integration.provider.smtp.sealed_password;
    return { integration: integration.toMessage(sealed === '' ? '' : keyring.decrypt(sealed)) };
  };
}
