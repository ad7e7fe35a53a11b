import { type Client, createClient, type ServiceImpl } from '@connectrpc/connect';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import {
  type EventConsumerService,
  EventProducerService,
} from '#gen/postrider/events/v1/events_pb.ts';
import { SystemMailService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { WebhookSubscriptionService } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createEgress } from '#lib/outside/egress.ts';
import type { Base } from '#lib/process/run-service.ts';
import type { Config } from './config.ts';
import type { SendingContext } from './sending/attempt.ts';
import type { Dispatcher } from './sending/dispatcher.ts';
import { Recorder } from './sending/recorder.ts';
import { openWebhooksStore } from './store.ts';

/** The services whose events are delivered, by name. */
export type Producers = Record<string, Pick<Client<typeof EventProducerService>, 'setInterest'>>;

/** The services that it calls. */
export type Peers = {
  producers: Producers;
  audience: Pick<Client<typeof AudienceService>, 'matchMembers'>;
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings' | 'listOwners'>;
  systemMail: Pick<Client<typeof SystemMailService>, 'sendSystemMail'>;
};

/** What the service and its worker of workflows need. */
export type SharedContext = SendingContext & Peers;

/** The dependencies of operations and tasks. */
export type Context = SharedContext & { dispatcher: Pick<Dispatcher, 'poke'> };

export async function openContext(base: Base, config: Config): Promise<SharedContext> {
  const store = await openWebhooksStore(config.databaseUrl);
  const { log, keyring } = base;
  const now = () => new Date();
  return {
    store,
    now,
    keyring,
    log,
    egress: createEgress(config.egressAllow),
    recorder: new Recorder({ store, log, now }),
    producers: {
      contacts: createClient(EventProducerService, base.peer('contacts')),
      messages: createClient(EventProducerService, base.peer('messages')),
    },
    audience: createClient(AudienceService, base.peer('contacts')),
    workspaces: createClient(WorkspaceDirectoryService, base.peer('workspaces')),
    systemMail: createClient(SystemMailService, base.peer('messages')),
  };
}

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof WebhookSubscriptionService> &
  ServiceImpl<typeof EventConsumerService>;
