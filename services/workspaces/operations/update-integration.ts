import { LockMode } from '@mikro-orm/core';
import { invalidField } from '#lib/errors/errors.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences, shownIntegration } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { Integration, integrationNotFound } from '../integration.ts';
import { refreshMailSettings } from '../integrations/mail-settings.ts';
import { checkedProvider, checkHost } from '../integrations/provider.ts';
import { secretSealer } from '../integrations/settings.ts';

export function updateIntegration(context: Context): Methods['updateIntegration'] {
  const { store, keyring, egress, now } = context;
  return async ({ workspaceId, integrationId, name, provider: given }, call) => {
    if (!given) throw invalidField('provider', 'provider is required');
    const seal = secretSealer(keyring, { workspaceId, integrationId });
    await checkHost(egress, workspaceId, checkedProvider(given, seal));
    await store.fork().transactional(async (em) => {
      const integration = await em.findOneOrFail(
        Integration,
        { workspace_id: workspaceId, id: integrationId },
        { lockMode: LockMode.PESSIMISTIC_WRITE, failHandler: integrationNotFound },
      );
      const before = { name: integration.name, provider: integration.provider };
      integration.name = name;
      integration.provider = checkedProvider(given, seal, before.provider).stored;
      integration.updated_at = now();
      await em.flush();
      await recordChange(
        em,
        call,
        differences(shownIntegration(before, before), shownIntegration(integration, before)),
      );
    });
    await refreshMailSettings(context, workspaceId);
    return { status: 'success', message: 'Integration updated successfully' };
  };
}
