import { type Client, Code, createClient } from '@connectrpc/connect';
import { IntegrationUseService } from '#gen/postrider/events/v1/events_pb.ts';
import type { Base } from '#lib/process/run-service.ts';
import { retryDefaultMs, retryLater } from '#lib/rpc/errors.ts';
import { refusal } from '#lib/rpc/reasons.ts';

export type IntegrationUses = Pick<Client<typeof IntegrationUseService>, 'listIntegrationUses'>;

/** The workspace is locked meanwhile. */
const callMs = 5_000;
const namedMax = 5;
const nameLengthMax = 50;

/** Clients of the services whose work is bound to integrations. */
export function integrationUsesOf({ peer }: Pick<Base, 'peer'>): IntegrationUses[] {
  return ['broadcasts', 'messages'].map((name) => createClient(IntegrationUseService, peer(name)));
}

/** Refuses to go on while unfinished work is bound to an integration, and names it. */
export async function checkUnused(
  services: readonly IntegrationUses[],
  key: { workspaceId: string; integrationId: string },
): Promise<void> {
  const answers = await Promise.all(services.map((service) => usesOf(service, key)));
  const uses = answers.flatMap((answer) => answer.uses).slice(0, namedMax);
  if (uses.length === 0) return;
  const count = answers.reduce((sum, answer) => sum + answer.count, 0);
  const named = uses.map(({ kind, name }) => `${kind} '${name.slice(0, nameLengthMax)}'`);
  const more = count > uses.length ? ` and ${count - uses.length} more` : '';
  throw refusal('INTEGRATION_IN_USE', `the integration is used by ${named.join(', ')}${more}`);
}

async function usesOf(
  service: IntegrationUses,
  key: { workspaceId: string; integrationId: string },
) {
  try {
    return await service.listIntegrationUses(key, { timeoutMs: callMs });
  } catch {
    const text = 'it is not known what uses the integration; try again';
    throw retryLater(text, Code.Unavailable, retryDefaultMs);
  }
}
