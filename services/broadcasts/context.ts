import type { ServiceImpl } from '@connectrpc/connect';
import { createClient } from '@connectrpc/connect';
import type { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import type { BroadcastPageService } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import type { SystemService } from '#gen/postrider/broadcasts/v1/system_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import { HoldService } from '#gen/postrider/messages/v1/hold_pb.ts';
import { BroadcastSendService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { BroadcastProgressService } from '#gen/postrider/messages/v1/progress_pb.ts';
import {
  TemplateContentService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { createEgress, type Egress } from '#lib/outside/egress.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Base } from '#lib/process/run-service.ts';
import { Quotas } from '#lib/quotas/quotas.ts';
import type { Config } from './config.ts';
import { createPageLinks, type PageLinks } from './page/links.ts';
import type { Peers } from './peers.ts';
import { type ComplaintWatch, createComplaintWatch } from './sending/complaints.ts';
import { Revisions } from './sending/revisions.ts';
import { createTurns, type Turns } from './sending/workspace-turns.ts';
import { counts, openBroadcastsStore } from './store.ts';

/** The dependencies of operations and activities. */
export type Context = Peers & {
  store: Store;
  quotas: Quotas;
  now: () => Date;
  egress: Egress;
  keyring: Keyring;
  revisions: Revisions;
  turns: Turns;
  pageLinks: PageLinks;
  complaints: ComplaintWatch;
};

export async function openContext(base: Base, config: Config): Promise<Context> {
  const { keyring } = base;
  const { publicUrl } = config;
  const store = await openBroadcastsStore(config.databaseUrl, config.databaseConnections);
  const now = () => new Date();
  const workspaces = createClient(WorkspaceDirectoryService, base.peer('workspaces'));
  const sender = createClient(BroadcastSendService, base.peer('messages'));
  return {
    store,
    workspaces,
    quotas: new Quotas({ store, workspaces, counts, log: base.log }),
    revisions: new Revisions(store),
    turns: createTurns(),
    now,
    egress: createEgress(config.egress),
    keyring,
    pageLinks: createPageLinks({ keyring, publicUrl, now }),
    contacts: createClient(ContactService, base.peer('contacts')),
    lists: createClient(ListService, base.peer('contacts')),
    audience: createClient(AudienceService, base.peer('contacts')),
    templates: createClient(TemplateContentService, base.peer('templates')),
    templateUses: createClient(TemplateUseService, base.peer('templates')),
    sender,
    complaints: createComplaintWatch({ store, sender, now, log: base.log }, config.complaints),
    progress: createClient(BroadcastProgressService, base.peer('messages')),
    facts: createClient(MessageFactsService, base.peer('messages')),
    holds: createClient(HoldService, base.peer('messages')),
  };
}

/** The handlers of this service, by RPC. */
export type Methods = ServiceImpl<typeof BroadcastService> &
  ServiceImpl<typeof BroadcastPageService> &
  ServiceImpl<typeof SystemService>;
