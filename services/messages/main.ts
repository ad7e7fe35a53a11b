import { createClient } from '@connectrpc/connect';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { SubscriberService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import {
  TemplateContentService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { consumerPeers, deliverEvents, openOutbox } from '#lib/events/outbox.ts';
import { pushTemplateUses } from '#lib/jobs/template-uses.ts';
import { createReturnPaths } from '#lib/keys/return-path.ts';
import { RateLimiter } from '#lib/limits/rate-limiter.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { servicePart } from '#lib/process/run-service.ts';
import { Quotas } from '#lib/quotas/quotas.ts';
import { Admission } from './admission/admission.ts';
import { LeasedPermits } from './admission/leased-permits.ts';
import { Outages } from './admission/outages.ts';
import { ContentKeeper } from './archive/keeper.ts';
import { readConfig } from './config.ts';
import { measureSending } from './delivery/metrics.ts';
import { startJournal } from './delivery/replay.ts';
import { Underway } from './delivery/underway.ts';
import { createSigning } from './dkim/signing.ts';
import { SigningThreads } from './dkim/threads.ts';
import { Hold } from './hold/hold.ts';
import { sealedColumns } from './kept-data.ts';
import { notificationUses } from './notifications/template-uses.ts';
import { settingsChanged } from './operations/refresh-settings.ts';
import { createFeeds } from './plans/feeds.ts';
import { createPlans } from './plans/plans.ts';
import { SendingDomains } from './plans/sending-domains.ts';
import { providersAt } from './providers/all.ts';
import { openSystemMail } from './providers/system-mail.ts';
import { Pacing } from './receivers/pacing.ts';
import { Journal } from './record/journal.ts';
import type { JournalFolder } from './record/journal-folder.ts';
import { ResultRecorder } from './record/recorder.ts';
import { RenderThread } from './render/thread.ts';
import { ReportIntake } from './reports/intake.ts';
import { ReportPace } from './reports/pace.ts';
import { reportsBurst, reportsPerSecond } from './reports/report.ts';
import { messagesRoutes, services } from './service.ts';
import { counts, openFactsStore, openMessagesStore, openOutcomeStore } from './store.ts';
import { applyReports } from './tasks/apply-reports.ts';
import { beginWelcomes } from './tasks/begin-welcomes.ts';
import { clearMessages } from './tasks/clear-messages.ts';
import { clearReports } from './tasks/clear-reports.ts';
import { eraseContents } from './tasks/erase-contents.ts';
import { finishIndividualSend } from './tasks/finish-individual-send.ts';
import { forgetContacts } from './tasks/forget-contacts.ts';
import { sendConfirmations } from './tasks/send-confirmations.ts';
import { sendWelcomes } from './tasks/send-welcomes.ts';
import { setUpReports } from './tasks/set-up-reports.ts';
import { storeReports } from './tasks/store-reports.ts';
import { suppressReturned } from './tasks/suppress-returned.ts';
import { unsubscribeLeavers } from './tasks/unsubscribe-leavers.ts';
import { openTransactional } from './transactional/open.ts';
import { MailReader } from './views/mail-reader.ts';

/**
 * How long a shutdown waits for servers that have a message's body; after that their answer is
 * unknown.
 */
const answerMaxMs = 20_000;
/** How long a shutdown then waits for outcomes to be recorded. */
const recordMaxMs = 5_000;

export const part = servicePart(readConfig, async (parts, config) => {
  const { log, keyring, peer, peerIfDeployed } = parts;
  const { databaseUrl, journalFolder } = config;
  const store = await openMessagesStore(databaseUrl, {
    connectionsMax: config.databaseConnections,
  });
  const outcomes = await openOutcomeStore(databaseUrl, config.outcomeConnections);
  const facts = await openFactsStore(databaseUrl, config.factConnections);
  const egress = createEgress(config.egress);
  const thread = new RenderThread();
  thread.warmUp();
  const reader = new MailReader();
  const templates = createClient(TemplateContentService, peer('templates'));
  const workspaces = createClient(WorkspaceDirectoryService, peer('workspaces'));
  const providers = providersAt(config.providerOrigins);
  const signers = new SigningThreads(config.signingThreads);
  const forget = signers.forget.bind(signers);
  const domains = new SendingDomains({ workspaces, keyring, log, forget });
  const plans = createPlans({
    ...{ store, keyring, workspaces, templates, providers, domains },
    feedbackSender: config.feedbackSender,
  });
  const consumers = consumerPeers('messages', peerIfDeployed);
  const owner = crypto.randomUUID();
  const outbox = openOutbox('messages', consumers);
  const journal = journalFolder ? new Journal(journalFolder, owner) : undefined;
  const underway = new Underway({ outcomes, owner, journal });
  const recorder = new ResultRecorder({ outcomes, outbox, owner, log, journal });
  const mayStart = (id: string) => !recorder.isBehind(id) && journal?.isWritable !== false;
  const permits = new LeasedPermits({ store, log });
  const { mailHosts: lookUp } = egress;
  const pacing = new Pacing({ store, log, lookUp, rates: config.receiverRates });
  const admission = new Admission({ resolve: egress.resolve, mayStart });
  const systemMail = config.systemMailUrl
    ? openSystemMail({ url: config.systemMailUrl, from: config.systemMailFrom })
    : undefined;
  const hold = new Hold(store, { log, holdsRestored: config.holdsRestored });
  measureSending({ admission, recorder, hold }, config.telemetry.metricsOfIntegrations);
  let lock: JournalFolder | undefined;
  const quotas = new Quotas({ store, workspaces, counts, log });
  const reportPace = new ReportPace(() => underway.isSendingMuch());
  const base = {
    store,
    quotas,
    outcomes,
    facts,
    log,
    outbox,
    keyring,
    contacts: {
      ...createClient(AudienceService, peer('contacts')),
      ...createClient(ListService, peer('contacts')),
      ...createClient(SubscriberService, peer('contacts')),
    },
    templates,
    templateUses: createClient(TemplateUseService, peer('templates')),
    owner,
    now: () => new Date(),
    plans,
    feeds: createFeeds({ egress, keyring }),
    thread,
    reader,
    admission,
    permits,
    pacing,
    outages: new Outages(),
    underway,
    recorder,
    contents: new ContentKeeper({ store, quotas, keyring, log }),
    journal,
    systemMail,
    hold,
    softBounces: config.softBounces,
    providers,
    returnPaths: config.bounceDomain ? createReturnPaths(keyring, config.bounceDomain) : undefined,
    signing: createSigning(domains, signers),
    reportRate: new RateLimiter(reportsPerSecond, { burst: reportsBurst }),
    intake: new ReportIntake({ store, keyring, reportPace }),
    reportPace,
    callOutside: egress.call,
  };
  const transactional = openTransactional(base);
  const context = { ...base, transactional };
  const erasing = eraseContents(context);
  const clearing = clearMessages(context);
  const clearingReports = clearReports(context);
  return {
    store,
    services,
    routes: messagesRoutes(context),
    sealed: sealedColumns(keyring),
    deliverEvents: deliverEvents('messages', consumers),
    tasks: {
      // The name in the queue's rows.
      endByHand: finishIndividualSend(store),
      eraseContents: erasing.task,
      clearMessages: clearing.task,
      forgetContacts: forgetContacts(store),
      beginWelcomes: beginWelcomes(context),
      storeReports: storeReports(context),
      applyReports: applyReports(context),
      suppressReturned: suppressReturned(context),
      unsubscribeLeavers: unsubscribeLeavers(context),
      clearReports: clearingReports.task,
      pushTemplateUses: pushTemplateUses({ ...base, templates, usesOf: notificationUses }),
    },
    slowTasks: {
      sendConfirmations: sendConfirmations(context),
      sendWelcomes: sendWelcomes(context),
      setUpReports: setUpReports(context),
    },
    minutely: ['beginWelcomes'],
    notices: { [settingsChanged]: plans.refresh },
    prepare: async () => {
      await erasing.start(store.fork());
      await clearing.start(store.fork());
      await clearingReports.start(store.fork());
      await hold.start();
      if (journal) lock = await startJournal(context, journal, journalFolder);
      transactional.queue.start();
    },
    close: async () => {
      await transactional.stop();
      await underway.drained(answerMaxMs);
      hold.stop();
      admission.close();
      await underway.drained(recordMaxMs);
      await signers.close();
      await permits.close();
      await pacing.close();
      await context.contents.drained(recordMaxMs);
      journal?.close();
      lock?.close();
      await outcomes.close();
      await facts.close();
      systemMail?.close();
      await thread.close();
      await reader.close();
      await egress.close();
    },
  };
});
