import { create } from '@bufbuild/protobuf';
import { createClient, createRouterTransport } from '@connectrpc/connect';
import { afterEach } from '@jest/globals';
import { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import {
  DomainTestPageService,
  DomainTestService,
  TestMailService,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import { HoldService } from '#gen/postrider/messages/v1/hold_pb.ts';
import {
  BroadcastSendService,
  MessageLinkService,
  MessageService,
  SendPlanSchema,
  TrackingService,
  WebVersionService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { BroadcastProgressService } from '#gen/postrider/messages/v1/progress_pb.ts';
import { ReceiverService } from '#gen/postrider/messages/v1/receivers_pb.ts';
import { RelayService } from '#gen/postrider/messages/v1/relay_pb.ts';
import { InboundReportService, ReportService } from '#gen/postrider/messages/v1/reports_pb.ts';
import { SuppressionService } from '#gen/postrider/messages/v1/suppressions_pb.ts';
import {
  NotificationDirectoryService,
  TransactionalService,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import { openOutbox } from '#lib/events/outbox.ts';
import { RateLimiter } from '#lib/limits/rate-limiter.ts';
import { createLog } from '#lib/log.ts';
import { createEgress } from '#lib/outside/egress.ts';
import { testQuotas } from '#lib/test/quotas.ts';
import { testStore } from '../../../test/setup/database.ts';
import { keyring, testTransport, userClaims } from '../../../test/setup/service.ts';
import { ofWorker, shared } from '../../../test/setup/shared.ts';
import { type Sink, startSink } from '../../../test/sink.ts';
import { defaultBehaviour } from '../../../test/sink-conversation.ts';
import { Admission } from '../admission/admission.ts';
import { LeasedPermits } from '../admission/leased-permits.ts';
import { Outages } from '../admission/outages.ts';
import { ContentKeeper } from '../archive/keeper.ts';
import type { Context } from '../context.ts';
import { Underway } from '../delivery/underway.ts';
import { createSigning } from '../dkim/signing.ts';
import { SigningThreads } from '../dkim/threads.ts';
import { Hold } from '../hold/hold.ts';
import { createFeeds } from '../plans/feeds.ts';
import { createPlans } from '../plans/plans.ts';
import { SendingDomains } from '../plans/sending-domains.ts';
import { providers } from '../providers/all.ts';
import { openSystemMail } from '../providers/system-mail.ts';
import { Pacing } from '../receivers/pacing.ts';
import { ResultRecorder } from '../record/recorder.ts';
import { newThread, RenderThread } from '../render/thread.ts';
import { ReportIntake } from '../reports/intake.ts';
import { ReportPace } from '../reports/pace.ts';
import { reportsBurst, reportsPerSecond } from '../reports/report.ts';
import { messagesRoutes } from '../service.ts';
import { counts, openFactsStore, openMessagesStore, openOutcomeStore } from '../store.ts';
import { openTransactional } from '../transactional/open.ts';
import { MailReader } from '../views/mail-reader.ts';
import {
  contactsOf,
  defaultContent,
  templatesOf,
  templateUsesOf,
  type World,
  workspacesOf,
} from './given-peers.ts';

/** It loads modules for half a second. */
const rendering = ofWorker('rendering', newThread);

/** The service with a sink for a mail server and stand-ins for the other services. */
export async function givenService() {
  const store = await testStore(openMessagesStore);
  const outcomes = await openOutcomeStore(store.url);
  const facts = await openFactsStore(store.url);
  const sink = await startSink({ bodiesMax: 300 });
  const world = newWorld(sink.port);
  const log = createLog('messages', 'silent');
  const signers = new SigningThreads(1);
  const forget = signers.forget.bind(signers);
  const workspaces = workspacesOf(world);
  const domains = new SendingDomains({ workspaces, keyring, log, forget });
  const peers = {
    ...{ store, keyring, providers, workspaces, domains },
    templates: templatesOf(world),
    feedbackSender: 'postrider',
  };
  const egress = createEgress({ allow: ['127.0.0.0/8'], dnsServers: [] });
  /** Another process of the service. */
  const newProcess = (over: Partial<Context> = {}) => {
    const { owner = crypto.randomUUID(), journal } = over;
    const outbox =
      over.outbox ?? openOutbox('messages', { contacts: createRouterTransport(() => {}) });
    const recorder = new ResultRecorder({ outcomes, outbox, owner, log, journal });
    const quotas = testQuotas({ store, counts }, world.quotas);
    const underway = new Underway({ outcomes, owner, journal });
    const reportPace = over.reportPace ?? new ReportPace(() => underway.isSendingMuch());
    const base = {
      store,
      quotas,
      outcomes,
      facts,
      log,
      outbox,
      keyring,
      contacts: contactsOf(world),
      templates: peers.templates,
      templateUses: templateUsesOf(world),
      owner,
      now: () => new Date(),
      plans: createPlans(peers),
      feeds: createFeeds({ egress, keyring }),
      thread: new RenderThread(rendering),
      reader: new MailReader(),
      admission: new Admission({
        resolve: egress.resolve,
        mayStart: (id) => !recorder.isBehind(id) && journal?.isWritable !== false,
      }),
      permits: new LeasedPermits({ store, log }),
      pacing: new Pacing({ store, log, lookUp: egress.mailHosts, rates: new Map() }),
      outages: new Outages(),
      underway,
      hold: new Hold(store, { log, holdsRestored: true }),
      recorder,
      contents: new ContentKeeper({ store, quotas, keyring, log }),
      journal,
      systemMail: openSystemMail({
        url: `smtp://127.0.0.1:${sink.port}`,
        from: 'system@postrider.example',
      }),
      softBounces: { inRow: 5, overDays: 7, suppressedDays: 30 },
      providers,
      returnPaths: undefined,
      signing: createSigning(domains, signers),
      reportRate: new RateLimiter(reportsPerSecond, { burst: reportsBurst }),
      intake: new ReportIntake({ store, keyring, reportPace }),
      reportPace,
      callOutside: egress.call,
      ...over,
    };
    const context: Context = { ...base, transactional: openTransactional(base) };
    const transport = testTransport(messagesRoutes(context));
    return {
      context,
      sender: createClient(BroadcastSendService, transport()),
      links: createClient(MessageLinkService, transport()),
      events: createClient(EventConsumerService, transport()),
      tracking: createClient(TrackingService, transport()),
      facts: createClient(MessageFactsService, transport()),
      webVersions: createClient(WebVersionService, transport()),
      progress: createClient(BroadcastProgressService, transport()),
      holds: createClient(HoldService, transport()),
      messages: createClient(MessageService, transport(userClaims())),
      transactional: createClient(TransactionalService, transport(userClaims())),
      relay: createClient(RelayService, transport(userClaims())),
      notifications: createClient(NotificationDirectoryService, transport()),
      suppressions: createClient(SuppressionService, transport(userClaims())),
      receivers: createClient(ReceiverService, transport(userClaims())),
      reports: createClient(ReportService, transport(userClaims())),
      inbound: createClient(InboundReportService, transport()),
      domainTests: createClient(DomainTestService, transport(userClaims())),
      domainTestPage: createClient(DomainTestPageService, transport()),
      testMails: createClient(TestMailService, transport()),
    };
  };
  const first = newProcess();
  return {
    ...first,
    store,
    sink,
    world,
    peers,
    newProcess,
    close: async () => {
      await closeAll(store, sink, first.context);
      await signers.close();
    },
  };
}

async function closeAll(store: Context['store'], sink: Sink, context: Context): Promise<void> {
  await context.transactional.stop();
  context.admission.close();
  await context.underway.drained(5_000);
  await context.permits.close();
  await context.pacing.close();
  await context.contents.drained(5_000);
  await context.outcomes.close();
  await context.facts.close();
  await context.reader.close();
  await sink.close();
  await store.close();
}

export type Given = Awaited<ReturnType<typeof givenService>>;

/** The service for all tests of a file. */
export function useService(): Given {
  return shared(givenService, (given) => given.close());
}

/** After each test the sink takes all mail again, and the other services answer as at first. */
export function resetAfterEach(given: Given): void {
  afterEach(() => {
    Object.assign(given.sink.behaviour, structuredClone(defaultBehaviour));
    given.sink.reset();
    Object.assign(given.world, newWorld(given.sink.port));
    given.peers.domains.refresh('w1');
  });
}

function newWorld(port: number): World {
  return {
    quotas: {},
    content: defaultContent,
    missingTemplates: new Set(),
    templateUses: new Map(),
    beforeUse: undefined,
    translations: new Map(),
    kind: 'smtp',
    provider: {},
    perMinute: 10_000_000,
    warmUp: undefined,
    unknownRetries: 1,
    port,
    isDirect: false,
    settings: {},
    skipReasons: new Map(),
    fields: new Map(),
    unknownContacts: new Set(),
    includeUnsubscribed: [],
    unsubscribed: [],
    confirmed: [],
    updates: [],
    subscribers: new Map(),
    optinTemplate: '',
    welcome: undefined,
    hasNoLists: false,
    findingWelcomes: undefined,
    activeSince: new Map(),
    welcomingLists: [],
    marketingProvider: 'smtp-1',
    transactionalProvider: 'smtp-1',
    testData: {},
    upserted: [],
    asked: 0,
    isTracked: false,
    contentDays: 0,
    messageDays: 0,
    resolving: undefined,
    domains: [],
    listingDomains: undefined,
    senders: [],
    otherSenders: new Map(),
  };
}

export const plan = create(SendPlanSchema, {
  templateId: 'news',
  templateVersion: 1,
  integrationId: 'smtp-1',
  listId: 'weekly',
  listName: 'Weekly',
  broadcastName: 'November',
});

let count = 0;

/** A request for a broadcast of its own. */
export function batchOf(emails: string[], over: Partial<typeof plan> = {}) {
  count += 1;
  return {
    workspaceId: 'w1',
    broadcastId: `b${count}`,
    plan: { ...plan, ...over, templateId: `t${count}` },
    emails,
  };
}

export const people = (size: number, prefix = 'p') =>
  Array.from({ length: size }, (_, index) => `${prefix}${index}@example.com`);
