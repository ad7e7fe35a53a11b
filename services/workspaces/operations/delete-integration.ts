import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences, shownIntegration } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { type Integration, integrationNotFound } from '../integration.ts';
import { refreshMailSettings } from '../integrations/mail-settings.ts';
import { checkUnused } from '../integrations/uses.ts';
import { providerKeys } from '../settings.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export function deleteIntegration(context: Context): Methods['deleteIntegration'] {
  return async ({ workspaceId, integrationId }, call) => {
    await context.store.fork().transactional(async (em) => {
      // Changes of the settings wait, and then find no such integration.
      const { settings } = await lockWorkspace(em, workspaceId);
      const using = providerKeys.filter((name) => settings[name] === integrationId);
      if (using.length > 0) {
        throw refusal(
          'INTEGRATION_IN_USE',
          `the integration is used by the settings: ${using.join(', ')}`,
        );
      }
      await checkUnused(Object.values(context.integrationUses), { workspaceId, integrationId });
      const [integration] = await query<Pick<Integration, 'name' | 'provider'>>(
        em,
        'delete from integrations where workspace_id = $1 and id = $2 returning name, provider',
        [workspaceId, integrationId],
      );
      if (!integration) throw integrationNotFound();
      await recordChange(em, call, differences(shownIntegration(integration, integration), {}));
    });
    await refreshMailSettings(context, workspaceId);
    return { status: 'success', message: 'Integration deleted successfully' };
  };
}
