import type { Client } from '@connectrpc/connect';
import type { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import type { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import type { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import type { HoldService } from '#gen/postrider/messages/v1/hold_pb.ts';
import type { BroadcastSendService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { BroadcastProgressService } from '#gen/postrider/messages/v1/progress_pb.ts';
import type { TemplateContentService } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { TemplateUseClient } from '#lib/jobs/template-uses.ts';

/** The calls that broadcasts makes to other services. */
export type Peers = {
  contacts: Pick<Client<typeof ContactService>, 'getContactByEmail'>;
  lists: Pick<Client<typeof ListService>, 'getList'>;
  audience: Pick<
    Client<typeof AudienceService>,
    'listAudience' | 'listMissingSegments' | 'countAudience'
  >;
  templates: Client<typeof TemplateContentService>;
  templateUses: TemplateUseClient;
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings' | 'getIntegration'>;
  sender: Pick<
    Client<typeof BroadcastSendService>,
    'sendBatch' | 'getBatchOutcomes' | 'sendIndividual' | 'listVariationStats'
  >;
  progress: Client<typeof BroadcastProgressService>;
  facts: Pick<Client<typeof MessageFactsService>, 'listUnopened'>;
  holds: Client<typeof HoldService>;
};
