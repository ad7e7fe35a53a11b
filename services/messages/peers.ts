import type { Client } from '@connectrpc/connect';
import type { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type { SubscriberService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import type { TemplateContentService } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';

// Only the RPCs that this service calls, so that tests stand in for no others.

export type Workspaces = Pick<
  Client<typeof WorkspaceDirectoryService>,
  'getSettings' | 'getIntegration' | 'findSender' | 'listSendingDomains'
>;
export type Contacts = Pick<
  Client<typeof AudienceService>,
  | 'resolveRecipients'
  | 'unsubscribeRecipient'
  | 'upsertRecipients'
  | 'listWelcomingLists'
  | 'findWelcomes'
> &
  Pick<Client<typeof ListService>, 'getList'> &
  Pick<
    Client<typeof SubscriberService>,
    'getSubscriber' | 'confirmSubscription' | 'updateSubscriber'
  >;
export type Templates = Pick<Client<typeof TemplateContentService>, 'getTemplateContent'>;
export type TestData = Pick<Client<typeof TemplateContentService>, 'batchGetTemplates'>;
