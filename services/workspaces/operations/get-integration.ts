import type { Context, Methods } from '../context.ts';
import { Integration, integrationNotFound } from '../integration.ts';
import { integrationMessage } from '../views/integration.ts';

export function getIntegration({ store }: Context): Methods['getIntegration'] {
  return async ({ workspaceId, integrationId }) => {
    const integration = await store
      .fork()
      .findOneOrFail(
        Integration,
        { workspace_id: workspaceId, id: integrationId },
        { failHandler: integrationNotFound },
      );
    return {
      integration: integrationMessage(integration),
      sealedPassword: integration.provider.smtp.sealed_password,
    };
  };
}
