import { query } from '#lib/postgres/query.ts';
import { refusal } from '#lib/rpc/reasons.ts';
import type { Context, Methods } from '../context.ts';
import { integrationNotFound } from '../integration.ts';
import { lockWorkspace } from '../workspace-queries.ts';

const users = ['marketing_email_provider_id', 'transactional_email_provider_id'] as const;

export function deleteIntegration({ store }: Context): Methods['deleteIntegration'] {
  return async ({ workspaceId, integrationId }) => {
    await store.fork().transactional(async (em) => {
      // Changes of the settings wait, and then find no such integration.
      const { settings } = await lockWorkspace(em, workspaceId);
      const using = users.filter((name) => settings[name] === integrationId);
      if (using.length > 0) {
        throw refusal(
          'INTEGRATION_IN_USE',
          `the integration is used by the settings: ${using.join(', ')}`,
        );
      }
      const rows = await query(
        em,
        'delete from integrations where workspace_id = $1 and id = $2 returning 1',
        [workspaceId, integrationId],
      );
      if (rows.length === 0) throw integrationNotFound();
    });
    return { status: 'success', message: 'Integration deleted successfully' };
  };
}
