import { type Client, Code, createClient } from '@connectrpc/connect';
import { IntegrationUseService } from '#gen/postrider/events/v1/events_pb.ts';
import { retryDefaultMs, retryLater } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Base } from '#lib/process/run-service.ts';

export type IntegrationUses = Pick<Client<typeof IntegrationUseService>, 'listIntegrationUses'>;

type IntegrationKey = { workspaceId: string; integrationId: string; withUnbound?: boolean };

/** The workspace is locked meanwhile. */
const callMs = 5_000;
const namedMax = 5;
const nameLengthMax = 50;

/** Clients of the services whose work is bound to integrations. */
export function integrationUsesOf({ peer }: Pick<Base, 'peer'>): Record<string, IntegrationUses> {
  return Object.fromEntries(
    ['broadcasts', 'messages'].map((name) => [
      name,
      createClient(IntegrationUseService, peer(name)),
    ]),
  );
}

/** Refuses to go on while unfinished work is bound to an integration, and names it after `text`. */
export async function checkUnused(
  services: readonly IntegrationUses[],
  key: IntegrationKey,
  text = 'the integration is in use',
): Promise<void> {
  const answers = await Promise.all(services.map((service) => usesOf(service, key)));
  const uses = answers.flatMap((answer) => answer.uses).slice(0, namedMax);
  if (uses.length === 0) return;
  const count = answers.reduce((sum, answer) => sum + answer.count, 0);
  const named = uses.map(({ kind, name }) => `${kind} '${name.slice(0, nameLengthMax)}'`);
  const more = count > uses.length ? ` and ${count - uses.length} more` : '';
  throw refusal('INTEGRATION_IN_USE', `${text}: ${named.join(', ')}${more}`);
}

async function usesOf(service: IntegrationUses, key: IntegrationKey) {
  try {
    return await service.listIntegrationUses(key, { timeoutMs: callMs });
  } catch {
    const unknown = 'it is not known what uses the integration; try again';
    throw retryLater(unknown, Code.Unavailable, retryDefaultMs);
  }
}
