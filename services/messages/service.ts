import type { ConnectRouter } from '@connectrpc/connect';
import {
  EventConsumerService,
  EventProducerService,
  IntegrationUseService,
  PersonDataService,
  WorkspaceDataService,
} from '#gen/postrider/events/v1/events_pb.ts';
import {
  DomainTestPageService,
  DomainTestService,
  TestMailService,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import { MessageFactsService } from '#gen/postrider/messages/v1/facts_pb.ts';
import { HoldService } from '#gen/postrider/messages/v1/hold_pb.ts';
import {
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
import { BroadcastProgressService } from '#gen/postrider/messages/v1/progress_pb.ts';
import { ReceiverService } from '#gen/postrider/messages/v1/receivers_pb.ts';
import { RelayService } from '#gen/postrider/messages/v1/relay_pb.ts';
import { InboundReportService, ReportService } from '#gen/postrider/messages/v1/reports_pb.ts';
import { SuppressionService } from '#gen/postrider/messages/v1/suppressions_pb.ts';
import {
  NotificationDirectoryService,
  TransactionalService,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import { consumeBatchByBatch } from '#lib/events/consume.ts';
import { setInterest } from '#lib/events/interests.ts';
import { countUsage } from '#lib/rpc/server/count-usage.ts';
import { eraseWorkspace } from '#lib/rpc/server/erase-workspace.ts';
import { listIntegrationUses } from '#lib/rpc/server/integration-uses.ts';
import { listPersonRecords } from '#lib/rpc/server/person-records.ts';
import type { Context } from './context.ts';
import { erasedTables, personSources } from './kept-data.ts';
import { addSuppression } from './operations/add-suppression.ts';
import { cancelTransactional } from './operations/cancel-transactional.ts';
import { checkReturnPath } from './operations/check-return-path.ts';
import { checkTestMail } from './operations/check-test-mail.ts';
import { confirmByLink } from './operations/confirm-by-link.ts';
import { consumeBatch, consumeEvents } from './operations/consume-events.ts';
import { countMessageFacts } from './operations/count-message-facts.ts';
import { createNotification } from './operations/create-notification.ts';
import { deleteNotification } from './operations/delete-notification.ts';
import { explainMessages } from './operations/explain-messages.ts';
import { exportMessages } from './operations/export-messages.ts';
import { getBatchOutcomes } from './operations/get-batch-outcomes.ts';
import { getBroadcastStats } from './operations/get-broadcast-stats.ts';
import { getBroadcastTimeline } from './operations/get-broadcast-timeline.ts';
import { getDomainTest } from './operations/get-domain-test.ts';
import { getHold } from './operations/get-hold.ts';
import { getLink } from './operations/get-link.ts';
import { getMessage } from './operations/get-message.ts';
import { getNewestDomainTest } from './operations/get-newest-domain-test.ts';
import { getNotification } from './operations/get-notification.ts';
import { getReportStatus } from './operations/get-report-status.ts';
import { getTrackedLinks } from './operations/get-tracked-links.ts';
import { getWebVersion } from './operations/get-web-version.ts';
import { importBounces } from './operations/import-bounces.ts';
import { importSuppressions } from './operations/import-suppressions.ts';
import { listBroadcastLinks } from './operations/list-broadcast-links.ts';
import { listInboundReports } from './operations/list-inbound-reports.ts';
import { listMessageFacts } from './operations/list-message-facts.ts';
import { listMessages } from './operations/list-messages.ts';
import { listMissingNotifications } from './operations/list-missing-notifications.ts';
import { listNotifications } from './operations/list-notifications.ts';
import { listPausedReceivers } from './operations/list-paused-receivers.ts';
import { listSendingStates } from './operations/list-sending-states.ts';
import { listSuppressions } from './operations/list-suppressions.ts';
import { listTagStats } from './operations/list-tag-stats.ts';
import { listUnopened } from './operations/list-unopened.ts';
import { listVariationStats } from './operations/list-variation-stats.ts';
import { pauseReceiver } from './operations/pause-receiver.ts';
import { placeHold } from './operations/place-hold.ts';
import { recordHits } from './operations/record-hits.ts';
import { recordReports } from './operations/record-reports.ts';
import { recordReturnedMail } from './operations/record-returned-mail.ts';
import { recordTestMail } from './operations/record-test-mail.ts';
import { refreshSettings } from './operations/refresh-settings.ts';
import { registerReports } from './operations/register-reports.ts';
import { relayMail } from './operations/relay-mail.ts';
import { releaseHold } from './operations/release-hold.ts';
import { removeSuppression } from './operations/remove-suppression.ts';
import { resealPasswords } from './operations/reseal-passwords.ts';
import { resumeReceiver } from './operations/resume-receiver.ts';
import { retryMessage } from './operations/retry-message.ts';
import { rotateReportSecret } from './operations/rotate-report-secret.ts';
import { sendBatch } from './operations/send-batch.ts';
import { sendDomainTest } from './operations/send-domain-test.ts';
import { sendDomainTestByPage } from './operations/send-domain-test-by-page.ts';
import { sendIndividual } from './operations/send-individual.ts';
import { sendSystemMail } from './operations/send-system-mail.ts';
import { sendTransactional } from './operations/send-transactional.ts';
import { sendTransactionalBatch } from './operations/send-transactional-batch.ts';
import { testTemplate } from './operations/test-template.ts';
import { unregisterReports } from './operations/unregister-reports.ts';
import { unsubscribeByLink } from './operations/unsubscribe-by-link.ts';
import { updateByLink } from './operations/update-by-link.ts';
import { updateNotification } from './operations/update-notification.ts';
import { boundToIntegration } from './record/integrations.ts';

export const services = [
  MessageService,
  MessageLinkService,
  WebVersionService,
  TrackingService,
  BroadcastSendService,
  BroadcastProgressService,
  SendingStateService,
  SystemMailService,
  HoldService,
  CredentialService,
  MailSettingsService,
  TransactionalService,
  RelayService,
  NotificationDirectoryService,
  SuppressionService,
  ReceiverService,
  ReportService,
  InboundReportService,
  DomainTestService,
  DomainTestPageService,
  TestMailService,
  MessageFactsService,
  EventConsumerService,
  EventProducerService,
  PersonDataService,
  WorkspaceDataService,
  IntegrationUseService,
];

/** Renders and sends mail, and keeps each message's outcome and the suppressed addresses. */
export function messagesRoutes(context: Context) {
  return (router: ConnectRouter): void => {
    router.service(MessageService, {
      listMessages: listMessages(context),
      listTagStats: listTagStats(context),
      getMessage: getMessage(context),
      explainMessages: explainMessages(context),
      exportMessages: exportMessages(context),
      retryMessage: retryMessage(context),
      getBroadcastStats: getBroadcastStats(context),
    });
    router.service(MessageLinkService, {
      getLink: getLink(context),
      unsubscribeByLink: unsubscribeByLink(context),
      confirmByLink: confirmByLink(context),
      updateByLink: updateByLink(context),
    });
    router.service(WebVersionService, { getWebVersion: getWebVersion(context) });
    router.service(TrackingService, {
      recordHits: recordHits(context),
      getTrackedLinks: getTrackedLinks(context),
    });
    router.service(BroadcastSendService, {
      sendBatch: sendBatch(context),
      getBatchOutcomes: getBatchOutcomes(context),
      sendIndividual: sendIndividual(context),
      listVariationStats: listVariationStats(context),
    });
    router.service(BroadcastProgressService, {
      getBroadcastTimeline: getBroadcastTimeline(context),
      listBroadcastLinks: listBroadcastLinks(context),
    });
    router.service(SendingStateService, { listSendingStates: listSendingStates(context) });
    router.service(CredentialService, { resealPasswords: resealPasswords(context) });
    router.service(MailSettingsService, { refreshSettings: refreshSettings(context) });
    router.service(HoldService, {
      getHold: getHold(context),
      placeHold: placeHold(context),
      releaseHold: releaseHold(context),
    });
    router.service(SystemMailService, { sendSystemMail: sendSystemMail(context) });
    router.service(TransactionalService, {
      listNotifications: listNotifications(context),
      getNotification: getNotification(context),
      createNotification: createNotification(context),
      updateNotification: updateNotification(context),
      deleteNotification: deleteNotification(context),
      testTemplate: testTemplate(context),
      sendTransactional: sendTransactional(context),
      sendTransactionalBatch: sendTransactionalBatch(context),
      cancelTransactional: cancelTransactional(context),
    });
    router.service(RelayService, { relayMail: relayMail(context) });
    router.service(NotificationDirectoryService, {
      listMissingNotifications: listMissingNotifications(context),
    });
    router.service(SuppressionService, {
      listSuppressions: listSuppressions(context),
      addSuppression: addSuppression(context),
      importSuppressions: importSuppressions(context),
      removeSuppression: removeSuppression(context),
    });
    router.service(ReceiverService, {
      pauseReceiver: pauseReceiver(context),
      resumeReceiver: resumeReceiver(context),
      listPausedReceivers: listPausedReceivers(context),
    });
    router.service(ReportService, {
      registerReports: registerReports(context),
      getReportStatus: getReportStatus(context),
      unregisterReports: unregisterReports(context),
      rotateReportSecret: rotateReportSecret(context),
      listInboundReports: listInboundReports(context),
      importBounces: importBounces(context),
    });
    router.service(InboundReportService, {
      recordReports: recordReports(context),
      checkReturnPath: checkReturnPath(context),
      recordReturnedMail: recordReturnedMail(context),
    });
    router.service(DomainTestService, {
      sendDomainTest: sendDomainTest(context),
      getDomainTest: getDomainTest(context),
    });
    router.service(DomainTestPageService, {
      getNewestDomainTest: getNewestDomainTest(context),
      sendDomainTestByPage: sendDomainTestByPage(context),
    });
    router.service(TestMailService, {
      checkTestMail: checkTestMail(context),
      recordTestMail: recordTestMail(context),
    });
    router.service(MessageFactsService, {
      countMessageFacts: countMessageFacts(context),
      listMessageFacts: listMessageFacts(context),
      listUnopened: listUnopened(context),
    });
    router.service(EventConsumerService, {
      consumeEvents: consumeEvents(context),
      consumeEventBatches: consumeBatchByBatch(context.log, consumeBatch(context)),
    });
    router.service(EventProducerService, { setInterest: setInterest(context.store) });
    router.service(PersonDataService, {
      listPersonRecords: listPersonRecords((person) => personSources(context, person)),
    });
    router.service(WorkspaceDataService, {
      eraseWorkspace: eraseWorkspace(context.store, erasedTables(context.store)),
      countUsage: countUsage(context.quotas),
    });
    router.service(IntegrationUseService, {
      listIntegrationUses: listIntegrationUses(context.store, boundToIntegration),
    });
  };
}
