import { createClient } from '@connectrpc/connect';
import { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import {
  TemplateContentService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  WorkspaceDirectoryService,
  WorkspaceService,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { deliverEvents, openOutbox } from '#lib/jobs/outbox.ts';
import { pushAllTemplateUses, pushTemplateUses } from '#lib/jobs/template-uses.ts';
import { runService } from '#lib/process/run-service.ts';
import { readConfig } from './config.ts';
import { contactsRoutes, services } from './service.ts';
import { openContactsStore } from './store.ts';
import { createEmailHmac } from './subscription/email-hmac.ts';
import { listsWithTemplate, listUses } from './subscription/template-uses.ts';
import { addClearing, clearTimelines } from './tasks/clear-timelines.ts';
import { endMemberships } from './tasks/end-memberships.ts';

await runService(readConfig, async ({ log, peer, peerIfDeployed }, { databaseUrl }) => {
  const store = await openContactsStore(databaseUrl);
  const consumers = { messages: peer('messages'), webhooks: peerIfDeployed('webhooks') };
  const context = {
    store,
    outbox: openOutbox('contacts', consumers),
    messageFacts: createClient(MessageFactsService, peer('messages')),
    workspaces: createClient(WorkspaceDirectoryService, peer('workspaces')),
    templates: createClient(TemplateContentService, peer('templates')),
    templateUses: createClient(TemplateUseService, peer('templates')),
    now: () => new Date(),
    isProven: createEmailHmac(createClient(WorkspaceService, peer('workspaces'))),
  };
  return {
    store,
    services,
    routes: contactsRoutes(context),
    tasks: {
      deliverEvents: deliverEvents(consumers),
      endMemberships: endMemberships(context),
      clearTimelines: clearTimelines(context, log),
      pushTemplateUses: pushTemplateUses({ ...context, usesOf: listUses }),
      pushAllTemplateUses: pushAllTemplateUses(store, {
        kind: 'list',
        usersSql: listsWithTemplate,
      }),
    },
    prepare: () => addClearing(store.fork(), 0),
  };
});
