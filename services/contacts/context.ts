import type { Client, ServiceImpl } from '@connectrpc/connect';
import type { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { CustomEventService } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import type { ContactListService, ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type {
  SubscriberService,
  SubscriptionService,
} from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import type { TimelineService } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import type { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import type { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Outbox } from '#lib/jobs/outbox.ts';
import type { TemplateUseClient } from '#lib/jobs/template-uses.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { IsProven } from './subscription/email-hmac.ts';
import type { Templates } from './subscription/opt-in-template.ts';

/** The dependencies of operations. */
export type Context = {
  store: Store;
  templates: Templates;
  templateUses: TemplateUseClient;
  messageFacts: Client<typeof MessageFactsService>;
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;
  outbox: Outbox;
  now: () => Date;
  isProven: IsProven;
};

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof SubscriberService> &
  ServiceImpl<typeof EventConsumerService> &
  ServiceImpl<typeof ContactService> &
  ServiceImpl<typeof CustomEventService> &
  ServiceImpl<typeof ListService> &
  ServiceImpl<typeof ContactListService> &
  ServiceImpl<typeof AudienceService> &
  ServiceImpl<typeof SubscriptionService> &
  ServiceImpl<typeof TimelineService>;
