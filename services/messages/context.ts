import type { ServiceImpl } from '@connectrpc/connect';
import type { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import type {
  DomainTestPageService,
  DomainTestService,
  TestMailService,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import type { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import type { HoldService } from '#gen/postrider/messages/v1/hold_pb.ts';
import type {
  BroadcastSendService,
  CredentialService,
  MailSettingsService,
  MessageLinkService,
  MessageService,
  SendingStateService,
  SystemMailService,
  TrackingService,
  WebVersionService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import type { BroadcastProgressService } from '#gen/postrider/messages/v1/progress_pb.ts';
import type { ReceiverService } from '#gen/postrider/messages/v1/receivers_pb.ts';
import type { RelayService } from '#gen/postrider/messages/v1/relay_pb.ts';
import type { InboundReportService, ReportService } from '#gen/postrider/messages/v1/reports_pb.ts';
import type { SuppressionService } from '#gen/postrider/messages/v1/suppressions_pb.ts';
import type {
  NotificationDirectoryService,
  TransactionalService,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import type { Outbox } from '#lib/events/outbox.ts';
import type { TemplateUseClient } from '#lib/jobs/template-uses.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { ReturnPaths } from '#lib/keys/return-path.ts';
import type { RateLimiter } from '#lib/limits/rate-limiter.ts';
import type { Log } from '#lib/log.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import type { Admission } from './admission/admission.ts';
import type { LeasedPermits } from './admission/leased-permits.ts';
import type { Outages } from './admission/outages.ts';
import type { ContentKeeper } from './archive/keeper.ts';
import type { Underway } from './delivery/underway.ts';
import type { Signing } from './dkim/signing.ts';
import type { Hold } from './hold/hold.ts';
import type { Contacts, Templates, TestData } from './peers.ts';
import type { Feeds } from './plans/feeds.ts';
import type { Plans } from './plans/plans.ts';
import type { MailProvider } from './providers/provider.ts';
import type { SystemMail } from './providers/system-mail.ts';
import type { Pacing } from './receivers/pacing.ts';
import type { Journal } from './record/journal.ts';
import type { ResultRecorder } from './record/recorder.ts';
import type { RenderThread } from './render/thread.ts';
import type { ReportIntake } from './reports/intake.ts';
import type { ReportPace } from './reports/pace.ts';
import type { SoftBounceRule } from './reports/soft-bounces.ts';
import type { Transactional } from './transactional/open.ts';
import type { MailReader } from './views/mail-reader.ts';

/** The dependencies of this service's operations and tasks. */
export type Context = {
  store: Store;
  quotas: Quotas;
  /** Connections for outcomes and leases alone. */
  outcomes: Store;
  /** Connections for reading facts alone. */
  facts: Store;
  log: Log;
  outbox: Outbox;
  keyring: Keyring;
  contacts: Contacts;
  templateUses: TemplateUseClient;
  templates: Templates & TestData;
  transactional: Transactional;
  /**
   * Owner of this process's claims: new with every start, so that claims of a process that died are
   * not taken for its own.
   */
  owner: string;
  now: () => Date;
  /** Compiled templates with the settings and the integration they go out with. */
  plans: Plans;
  feeds: Feeds;
  thread: RenderThread;
  reader: MailReader;
  /** Decides whose messages are sent next, and holds the connections. */
  admission: Admission;
  permits: LeasedPermits;
  /** Paces mail of integrations that deliver directly by its receivers. */
  pacing: Pacing;
  outages: Outages;
  underway: Underway;
  recorder: ResultRecorder;
  contents: ContentKeeper;
  /** The operator's own mail server; absent if none is set. */
  systemMail: SystemMail | undefined;
  /** Absent where the process has no disk of its own. */
  journal: Journal | undefined;
  hold: Hold;
  softBounces: SoftBounceRule;
  providers: readonly MailProvider[];
  /** Absent where nothing that comes back is taken. */
  returnPaths: ReturnPaths | undefined;
  /** Signs mails by the keys of their domains. */
  signing: Signing;
  /** Reports of an integration that this process takes. */
  reportRate: RateLimiter;
  intake: ReportIntake;
  /** Of the work on reports that are answered. */
  reportPace: ReportPace;
  /** Calls to providers, for their reports. */
  callOutside: Egress['call'];
};

/** The signature of each operation, by RPC. */
export type Methods = ServiceImpl<typeof MessageLinkService> &
  ServiceImpl<typeof EventConsumerService> &
  ServiceImpl<typeof BroadcastSendService> &
  ServiceImpl<typeof BroadcastProgressService> &
  ServiceImpl<typeof MessageFactsService> &
  ServiceImpl<typeof MessageService> &
  ServiceImpl<typeof WebVersionService> &
  ServiceImpl<typeof SendingStateService> &
  ServiceImpl<typeof SuppressionService> &
  ServiceImpl<typeof ReceiverService> &
  ServiceImpl<typeof ReportService> &
  ServiceImpl<typeof InboundReportService> &
  ServiceImpl<typeof DomainTestService> &
  ServiceImpl<typeof DomainTestPageService> &
  ServiceImpl<typeof TestMailService> &
  ServiceImpl<typeof HoldService> &
  ServiceImpl<typeof SystemMailService> &
  ServiceImpl<typeof CredentialService> &
  ServiceImpl<typeof MailSettingsService> &
  ServiceImpl<typeof TrackingService> &
  ServiceImpl<typeof NotificationDirectoryService> &
  ServiceImpl<typeof TransactionalService> &
  ServiceImpl<typeof RelayService>;
