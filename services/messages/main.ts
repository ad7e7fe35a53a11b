import { createClient } from '@connectrpc/connect';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { SubscriberService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { TemplateContentService } from '#gen/postrider/templates/v1/templates_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { deliverEvents, openOutbox } from '#lib/jobs/outbox.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { runService } from '#lib/process/run-service.ts';
import { readConfig } from './config.ts';
import { createFeeds } from './content/feeds.ts';
import { createPlans } from './content/plans.ts';
import { RenderThread } from './render/thread.ts';
import { admissionLimits, createAdmission } from './sending/admission.ts';
import { createPools } from './sending/pools.ts';
import { createUnderway } from './sending/underway.ts';
import { messagesRoutes, services } from './service.ts';
import { openMessagesStore, openOutcomeStore } from './store.ts';
import { finishIndividualSend } from './tasks/finish-individual-send.ts';
import { sendConfirmations } from './tasks/send-confirmations.ts';

/** How long a shutdown waits for servers that have a message's body; after that their answer is unknown. */
const answerMaxMs = 20_000;
/** How long a shutdown then waits for outcomes to be recorded. */
const recordMaxMs = 5_000;

await runService(readConfig, async ({ log, keyring, peer, peerIfDeployed }, config) => {
  const { databaseUrl, egressAllow } = config;
  const store = await openMessagesStore(databaseUrl);
  const outcomes = await openOutcomeStore(databaseUrl);
  const egress = createEgress(egressAllow);
  const thread = new RenderThread();
  const pools = createPools(egress);
  const plans = createPlans({
    store,
    workspaces: createClient(WorkspaceDirectoryService, peer('workspaces')),
    templates: createClient(TemplateContentService, peer('templates')),
  });
  const consumers = { contacts: peer('contacts'), webhooks: peerIfDeployed('webhooks') };
  const underway = createUnderway();
  const context = {
    store,
    outcomes,
    log,
    outbox: openOutbox('messages', consumers),
    keyring,
    contacts: {
      ...createClient(AudienceService, peer('contacts')),
      ...createClient(ListService, peer('contacts')),
      ...createClient(SubscriberService, peer('contacts')),
    },
    owner: crypto.randomUUID(),
    now: () => new Date(),
    plans,
    feeds: createFeeds({ egress, keyring }),
    pools,
    thread,
    admission: createAdmission(admissionLimits),
    underway,
  };
  return {
    store,
    services,
    routes: messagesRoutes(context),
    tasks: {
      deliverEvents: deliverEvents(consumers),
      sendConfirmations: sendConfirmations(context),
      // The name in the queue's rows.
      endByHand: finishIndividualSend(store),
    },
    close: async () => {
      await underway.drained(answerMaxMs);
      pools.close();
      await underway.drained(recordMaxMs);
      await outcomes.close();
      await thread.close();
      await egress.close();
    },
  };
});
