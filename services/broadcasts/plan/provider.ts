import { Code, ConnectError } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast, Provider, Rest } from '../broadcast/broadcast.ts';
import { oldestBegun } from '../broadcast/queries.ts';
import type { Peers } from '../peers.ts';
import { found } from './found.ts';

export const noProviderText =
  'no marketing email provider configured for this workspace: workspaces.update sets it, by settings.marketing_email_provider_id';

/**
 * Broadcasts that are not over and are sent through an integration, or with `withUnbound` through
 * the one that the settings name once their content is pinned.
 */
export const boundToIntegration = (withUnbound: boolean) => `
  select 'broadcast' as kind, name from broadcasts
  where workspace_id = $1 and (plan->>'integration_id' = $2 or (plan is null and integration_id = $2)
      ${withUnbound ? "or (plan is null and integration_id = '')" : ''})
    and status not in ('draft', 'sent', 'cancelled', 'failed')`;

type Sent = Pick<Broadcast, 'workspace_id' | 'integration_id'>;

/**
 * The integration that a broadcast names, or else that of the settings as they are now, with its
 * rate; undefined where neither names one.
 */
export async function providerOf(
  { workspaces }: Pick<Peers, 'workspaces'>,
  { workspace_id: workspaceId, integration_id: own }: Sent,
): Promise<Provider | undefined> {
  const integrationId = own || (await marketingProviderOf({ workspaces }, workspaceId));
  return integrationId === ''
    ? undefined
    : readProvider({ workspaces }, workspaceId, integrationId);
}

async function marketingProviderOf(
  { workspaces }: Pick<Peers, 'workspaces'>,
  workspaceId: string,
): Promise<string> {
  const { settings } = await workspaces.getSettings({ workspaceId });
  return settings?.marketingEmailProviderId ?? '';
}

/** Refuses a broadcast that names an integration that is not there, or none where none is set. */
export async function checkProvider(
  { workspaces }: Pick<Peers, 'workspaces'>,
  { workspace_id: workspaceId, integration_id: own }: Sent,
): Promise<void> {
  if (own !== '') {
    await found(
      workspaces.getIntegration({ workspaceId, integrationId: own }),
      'integration_id',
      `integration ${own} not found`,
    );
  } else if ((await marketingProviderOf({ workspaces }, workspaceId)) === '') {
    throw invalidField('workspace_id', noProviderText);
  }
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

/**
 * The provider for the rest of a broadcast: the first that is there of its own, that of the
 * settings and that of the content. Undefined before its content is pinned.
 */
async function providerForRest(
  peers: Pick<Peers, 'workspaces'>,
  { workspace_id: workspaceId, integration_id: own, plan }: Broadcast,
): Promise<Provider | undefined> {
  if (!plan) return undefined;
  const named = [own, await marketingProviderOf(peers, workspaceId), plan.integration_id];
  for (const integrationId of named.filter(Boolean)) {
    try {
      return await readProvider(peers, workspaceId, integrationId);
    } catch (error) {
      if (ConnectError.from(error).code !== Code.NotFound) throw error;
    }
  }
  throw refusal('NO_EMAIL_PROVIDER', noProviderText);
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
