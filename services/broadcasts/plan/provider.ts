import { Code, ConnectError } from '@connectrpc/connect';
import { refusal } from '#lib/errors/reasons.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast, Provider, Rest } from '../broadcast/broadcast.ts';
import { oldestBegun } from '../broadcast/queries.ts';
import type { Peers } from '../peers.ts';

export const noProviderText =
  'no marketing email provider configured for this workspace: workspaces.update sets it, by settings.marketing_email_provider_id';

/**
 * Broadcasts that are not over and whose content is pinned to an integration, or with `withUnbound`
 * is not pinned yet.
 */
export const boundToIntegration = (withUnbound: boolean) => `
  select 'broadcast' as kind, name from broadcasts
  where workspace_id = $1 and (plan->>'integration_id' = $2${withUnbound ? ' or plan is null' : ''})
    and status not in ('draft', 'sent', 'cancelled', 'failed')`;

/** The integration and the rate that the settings name now; undefined where they name none. */
export async function providerOf(
  { workspaces }: Pick<Peers, 'workspaces'>,
  workspaceId: string,
): Promise<Provider | undefined> {
  const { settings } = await workspaces.getSettings({ workspaceId });
  const integrationId = settings?.marketingEmailProviderId ?? '';
  return integrationId === ''
    ? undefined
    : readProvider({ workspaces }, workspaceId, integrationId);
}

export async function restOf(
  em: EntityManager,
  peers: Pick<Peers, 'workspaces'>,
  broadcast: Broadcast,
): Promise<Rest> {
  const { workspace_id: workspaceId, id } = broadcast;
  const [provider, begunAt] = await Promise.all([
    providerForRest(peers, broadcast),
    oldestBegun(em, { workspaceId, id }),
  ]);
  return { provider, begunAt };
}

/** What the rest of a broadcast is sent through. Undefined before its content is pinned. */
async function providerForRest(
  context: Pick<Peers, 'workspaces'>,
  { workspace_id: workspaceId, plan }: Broadcast,
): Promise<Provider | undefined> {
  if (!plan) return undefined;
  const named = await providerOf(context, workspaceId);
  if (named) return named;
  try {
    return await readProvider(context, workspaceId, plan.integration_id);
  } catch (error) {
    if (ConnectError.from(error).code !== Code.NotFound) throw error;
    throw refusal('NO_EMAIL_PROVIDER', noProviderText);
  }
}

async function readProvider(
  { workspaces }: Pick<Peers, 'workspaces'>,
  workspaceId: string,
  integrationId: string,
): Promise<Provider> {
  const { integration } = await workspaces.getIntegration({ workspaceId, integrationId });
  const ratePerMinute = integration?.emailProvider?.rateLimitPerMinute ?? 1;
  return { integrationId, ratePerMinute };
}
