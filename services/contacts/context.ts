import { type Client, createClient, type ServiceImpl, type Transport } from '@connectrpc/connect';
import type { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { CustomEventService } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import type { ContactListService, ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type { SegmentService } from '#gen/postrider/contacts/v1/segments_pb.ts';
import type {
  SubscriberService,
  SubscriptionService,
} from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import type { TimelineService } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import {
  type EventConsumerService,
  PersonDataService,
} from '#gen/postrider/events/v1/events_pb.ts';
import { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import { NotificationDirectoryService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import {
  TemplateContentService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { openProducers, type Producers } from '#lib/events/interest-pushes.ts';
import { consumerPeers, type Outbox, openOutbox } from '#lib/events/outbox.ts';
import type { TemplateUseClient } from '#lib/jobs/template-uses.ts';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Base } from '#lib/process/run-service.ts';
import { Quotas } from '#lib/quotas/quotas.ts';
import type { Config } from './config.ts';
import type { PersonData } from './kept-data.ts';
import { TryOuts } from './segments/try-out.ts';
import { counts, openContactsStore } from './store.ts';
import { type Challenges, createChallenges } from './subscription/challenge.ts';
import { createEmailHmac, type IsProven } from './subscription/email-hmac.ts';
import type { OptInTemplates } from './subscription/opt-in-template.ts';
import { createWantsProof, type WantsProof } from './subscription/proof-of-work.ts';
import type { Notifications } from './subscription/welcome.ts';

/** The dependencies of operations. */
export type Context = {
  store: Store;
  templates: OptInTemplates;
  templateUses: TemplateUseClient;
  messageFacts: Client<typeof MessageFactsService>;
  notifications: Notifications;
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;
  quotas: Quotas;
  outbox: Outbox;
  now: () => Date;
  isProven: IsProven;
  wantsProof: WantsProof;
  challenges: Challenges;
  producers: Producers;
  tryOuts: TryOuts;
  /** Other services, which keep something about people as well. */
  personData: PersonData;
  log: Pick<Log, 'warn'>;
};

export async function openContext(
  { peer, peerIfDeployed, keyring, log }: Base,
  { databaseUrl, databaseConnections }: Config,
): Promise<Context> {
  const store = await openContactsStore(databaseUrl, databaseConnections);
  const workspaces = createClient(WorkspaceDirectoryService, peer('workspaces'));
  const now = () => new Date();
  return {
    store,
    workspaces,
    quotas: new Quotas({ store, workspaces, counts, log }),
    outbox: openOutbox('contacts', consumerPeers('contacts', peerIfDeployed)),
    templates: createClient(TemplateContentService, peer('templates')),
    templateUses: createClient(TemplateUseService, peer('templates')),
    now,
    isProven: createEmailHmac(createClient(WorkspaceService, peer('workspaces'))),
    wantsProof: createWantsProof(workspaces),
    challenges: createChallenges({ keyring, now }),
    messageFacts: createClient(MessageFactsService, peer('messages')),
    notifications: createClient(NotificationDirectoryService, peer('messages')),
    producers: openProducers('contacts', peer),
    tryOuts: new TryOuts(),
    personData: personDataOf({
      messages: peer('messages'),
      webhooks: peerIfDeployed('webhooks'),
    }),
    log,
  };
}

/** Of the services that are deployed. */
function personDataOf(transports: Record<string, Transport | undefined>): PersonData {
  const deployed = Object.entries(transports).flatMap(([name, transport]) =>
    transport ? [[name, createClient(PersonDataService, transport)] as const] : [],
  );
  return Object.fromEntries(deployed);
}

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof SubscriberService> &
  ServiceImpl<typeof EventConsumerService> &
  ServiceImpl<typeof ContactService> &
  ServiceImpl<typeof CustomEventService> &
  ServiceImpl<typeof ListService> &
  ServiceImpl<typeof ContactListService> &
  ServiceImpl<typeof AudienceService> &
  ServiceImpl<typeof SegmentService> &
  ServiceImpl<typeof SubscriptionService> &
  ServiceImpl<typeof TimelineService>;
