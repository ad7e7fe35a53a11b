import type { Context, Methods } from '../context.ts';
import { Integration, integrationNotFound } from '../integration.ts';
import { splitSecrets } from '../integrations/settings.ts';
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
    const { sealed: sealedSecrets } = splitSecrets(integration.provider);
    return {
      integration: integrationMessage(integration),
      sealedPassword: sealedSecrets.password ?? '',
      sealedSecrets,
    };
  };
}
