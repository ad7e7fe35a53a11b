import { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { differences, shownIntegration } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { Integration } from '../integration.ts';
import { refreshMailSettings } from '../integrations/mail-settings.ts';
import { checkedProvider, checkHost } from '../integrations/provider.ts';
import { secretSealer } from '../integrations/settings.ts';
import { providerKeys } from '../settings.ts';
import type { StoredSettings } from '../workspace.ts';
import { lockWorkspace } from '../workspace-queries.ts';

const integrationsMax = 100;

export function createIntegration(context: Context): Methods['createIntegration'] {
  const { store, keyring, egress, now } = context;
  return async (request, call) => {
    if (!request.provider) throw invalidField('provider', 'provider is required');
    const id = crypto.randomUUID();
    const { workspaceId } = request;
    const checked = checkedProvider(
      request.provider,
      secretSealer(keyring, { workspaceId, integrationId: id }),
    );
    await checkHost(egress, workspaceId, checked);
    const { stored: provider } = checked;
    const at = now();
    const answer = await once(
      store,
      call,
      WorkspaceService.method.createIntegration,
      request,
      async (em) => {
        const workspace = await lockWorkspace(em, request.workspaceId);
        const [{ count } = { count: '0' }] = await query<{ count: string }>(
          em,
          'select count(*) from integrations where workspace_id = $1',
          [request.workspaceId],
        );
        if (Number(count) >= integrationsMax) {
          throw refusal(
            'LIMIT_OF_WORKSPACE',
            `a workspace has at most ${integrationsMax} integrations`,
          );
        }
        em.create(Integration, {
          workspace_id: request.workspaceId,
          id,
          name: request.name,
          provider,
          created_at: at,
          updated_at: at,
        });
        const before = workspace.settings;
        if (Number(count) === 0) {
          workspace.settings = { ...before, ...defaultProviders(before, id) };
        }
        await em.flush();
        const shown = {
          ...workspace.settings,
          ...shownIntegration({ name: request.name, provider }),
        };
        await recordChange(em, call, { targetId: id, ...differences(before, shown) });
        return { status: 'success', integrationId: id };
      },
    );
    await refreshMailSettings(context, request.workspaceId);
    return answer;
  };
}

/** A first integration is what a workspace sends through, unless somebody has chosen. */
function defaultProviders(settings: StoredSettings, id: string): Partial<StoredSettings> {
  return Object.fromEntries(
    providerKeys.filter((key) => settings[key] === '').map((key) => [key, id]),
  );
}
