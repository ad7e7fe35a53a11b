import { type Client, createClient, type ServiceImpl } from '@connectrpc/connect';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import {
  type EventConsumerService,
  EventProducerService,
} from '#gen/postrider/events/v1/events_pb.ts';
import type { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { createEgress, type Egress } from '#lib/outside/egress.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Base } from '#lib/process/run-service.ts';
import type { Config } from './config.ts';
import { openWebhooksStore } from './store.ts';

/** The services whose events are delivered, by name. */
export type Producers = Record<string, Pick<Client<typeof EventProducerService>, 'setInterest'>>;

/** The dependencies of operations, tasks and activities. */
export type Context = {
  store: Store;
  now: () => Date;
  keyring: Keyring;
  egress: Egress;
  producers: Producers;
  audience: Pick<Client<typeof AudienceService>, 'resolveRecipients'>;
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;
};

export async function openContext(base: Base, config: Config): Promise<Context> {
  return {
    store: await openWebhooksStore(config.databaseUrl),
    now: () => new Date(),
    keyring: base.keyring,
    egress: createEgress(config.egressAllow),
    producers: {
      contacts: createClient(EventProducerService, base.peer('contacts')),
      messages: createClient(EventProducerService, base.peer('messages')),
    },
    audience: createClient(AudienceService, base.peer('contacts')),
    workspaces: createClient(WorkspaceDirectoryService, base.peer('workspaces')),
  };
}

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof WebhookSubscriptionService> &
  ServiceImpl<typeof EventConsumerService>;
