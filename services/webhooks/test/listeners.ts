import { createClient } from '@connectrpc/connect';
import { WebhookListenerService } from '#gen/postrider/webhooks/v1/listeners_pb.ts';
import { memberWith, testTransport, userClaims } from '../../../test/setup/service.ts';
import { webhooksRoutes } from '../service.ts';
import type { Given } from './given.ts';

/** A listener of some types. */
export async function givenListener(
  { listeners }: Pick<Given, 'listeners'>,
  workspaceId: string,
  eventTypes = ['contact.created', 'email.sent'],
) {
  const { listener } = await listeners.createWebhookListener({ workspaceId, eventTypes });
  if (!listener) throw new Error('no listener');
  const key = { workspaceId, id: listener.id };
  return {
    ...listener,
    workspaceId,
    take: (takenIds: string[] = []) => listeners.takeWebhookEvents({ ...key, takenIds }),
    end: () => listeners.endWebhookListener(key),
  };
}

/** The listeners' calls by a member with these rights. */
export function listenersBy(given: Given, rights: Parameters<typeof memberWith>[0]) {
  const authorize = memberWith(rights);
  const transport = testTransport(webhooksRoutes(given.context), { authorize });
  return createClient(WebhookListenerService, transport(userClaims()));
}

/** Sends events of some types in one batch, as a producer does. */
export async function sendTypes(
  { events }: Pick<Given, 'events'>,
  workspaceId: string,
  types: readonly string[],
  data: object = { email: 'a@example.com' },
): Promise<void> {
  const dataJson = JSON.stringify(data);
  const batch = types.map((type) => ({ type, dataJson }));
  await events.consumeEvents({ workspaceId, batchId: crypto.randomUUID(), events: batch });
}
