import { openStore, type Store } from '#lib/postgres/store.ts';
import type { QuotaContext } from '#lib/quotas/quotas.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { Confirmations } from './migrations/m0002-confirmations.ts';
import { Tracking } from './migrations/m0003-tracking.ts';
import { ByHand } from './migrations/m0004-by-hand.ts';
import { WarmUp } from './migrations/m0005-warm-up.ts';
import { VariationCounts } from './migrations/m0006-variation-counts.ts';
import { OpenConfirmations } from './migrations/m0007-open-confirmations.ts';
import { Keys } from './migrations/m0008-keys.ts';
import { Replicas } from './migrations/m0009-replicas.ts';
import { Installation } from './migrations/m0010-installation.ts';
import { Interests } from './migrations/m0011-interests.ts';
import { History } from './migrations/m0012-history.ts';
import { Transactional } from './migrations/m0013-transactional.ts';
import { FactInterests } from './migrations/m0014-fact-interests.ts';
import { Erasing } from './migrations/m0015-erasing.ts';
import { Suppressions } from './migrations/m0016-suppressions.ts';
import { HoldOfInstallation } from './migrations/m0018-hold.ts';
import { ConsentTimes } from './migrations/m0019-consent-times.ts';
import { Expiry } from './migrations/m0020-expiry.ts';
import { InterestVersions } from './migrations/m0021-interest-versions.ts';
import { FileWorkspaces } from './migrations/m0022-file-workspaces.ts';
import { ProviderIds } from './migrations/m0023-provider-ids.ts';
import { Reports } from './migrations/m0024-reports.ts';
import { EndsOfSuppressions } from './migrations/m0025-ends-of-suppressions.ts';
import { LateReports } from './migrations/m0026-late-reports.ts';
import { ProviderReports } from './migrations/m0027-provider-reports.ts';
import { InboundRequests } from './migrations/m0028-inbound-requests.ts';
import { ReceiverRates } from './migrations/m0029-receiver-rates.ts';
import { BroadcastSenders } from './migrations/m0030-broadcast-senders.ts';
import { DomainTests } from './migrations/m0031-domain-tests.ts';
import { MessageBodies } from './migrations/m0032-message-bodies.ts';
import { Tags } from './migrations/m0033-tags.ts';
import { Welcomes } from './migrations/m0035-welcomes.ts';
import { ReceiverPauses } from './migrations/m0037-receiver-pauses.ts';
import { HeldReportKeys } from './migrations/m0038-held-report-keys.ts';
import { ExternalIds } from './migrations/m0039-external-ids.ts';
import { OneIndexOfExternalIds } from './migrations/m0040-one-index-of-external-ids.ts';
import { Notification } from './notification.ts';

/** Enough for each running batch to write results and renew leases. */
export const outcomeConnections = 4;
export const factConnections = 2;

/**
 * A second pool for outcomes, so that neither reads that fill the first pool nor calls that end
 * hold them up.
 */
export function openOutcomeStore(url: string, connectionsMax?: number): Promise<Store> {
  return openMessagesStore(url, {
    pool: 'messages-outcomes',
    connectionsMax: connectionsMax ?? outcomeConnections,
    outlivesCalls: true,
    onlyByKey: true,
  });
}

/**
 * A pool for reading facts, whose callers read much at once: it leaves the other pools alone. A
 * call that gets no connection in time is answered as unavailable, and comes again.
 */
export function openFactsStore(url: string, connectionsMax?: number): Promise<Store> {
  return openMessagesStore(url, {
    pool: 'messages-facts',
    connectionsMax: connectionsMax ?? factConnections,
  });
}

export function openMessagesStore(
  url: string,
  over: {
    pool?: string;
    connectionsMax?: number | undefined;
    outlivesCalls?: boolean;
    onlyByKey?: boolean;
  } = {},
): Promise<Store> {
  return openStore({
    ...over,
    name: 'messages',
    url,
    entities: [Notification],
    migrations: {
      'm0001-initial': Initial,
      'm0002-confirmations': Confirmations,
      'm0003-tracking': Tracking,
      'm0004-by-hand': ByHand,
      'm0005-warm-up': WarmUp,
      'm0006-variation-counts': VariationCounts,
      'm0007-open-confirmations': OpenConfirmations,
      'm0008-keys': Keys,
      'm0009-replicas': Replicas,
      'm0010-installation': Installation,
      'm0011-interests': Interests,
      'm0012-history': History,
      'm0013-transactional': Transactional,
      'm0014-fact-interests': FactInterests,
      'm0015-erasing': Erasing,
      'm0016-suppressions': Suppressions,
      'm0018-hold': HoldOfInstallation,
      'm0019-consent-times': ConsentTimes,
      'm0020-expiry': Expiry,
      'm0021-interest-versions': InterestVersions,
      'm0022-file-workspaces': FileWorkspaces,
      'm0023-provider-ids': ProviderIds,
      'm0024-reports': Reports,
      'm0025-ends-of-suppressions': EndsOfSuppressions,
      'm0026-late-reports': LateReports,
      'm0027-provider-reports': ProviderReports,
      'm0028-inbound-requests': InboundRequests,
      'm0029-receiver-rates': ReceiverRates,
      'm0030-broadcast-senders': BroadcastSenders,
      'm0031-domain-tests': DomainTests,
      'm0032-message-bodies': MessageBodies,
      'm0033-tags': Tags,
      'm0035-welcomes': Welcomes,
      'm0037-receiver-pauses': ReceiverPauses,
      'm0038-held-report-keys': HeldReportKeys,
      'm0039-external-ids': ExternalIds,
      'm0040-one-index-of-external-ids': OneIndexOfExternalIds,
    },
  });
}

/** SQL that counts what a workspace uses of each quota. */
export const counts: QuotaContext['counts'] = {
  notifications: 'select count(*) as used from notifications where workspace_id = $1',
  queued_messages:
    'select count(*) as used from message_requests where workspace_id = $1 and due_at is not null',
  // With those that are done and kept for a few days.
  welcomes: 'select count(*) as used from welcomes where workspace_id = $1',
  queued_bytes: `select
    (select coalesce(sum(octet_length(request)), 0) from message_requests
      where workspace_id = $1 and due_at is not null)
    + (select coalesce(sum(octet_length(content)), 0) from message_attachments
      where workspace_id = $1)
    + (select coalesce(sum(octet_length(body)), 0) from message_bodies
      where workspace_id = $1 and erase_at is null) as used`,
  content_bytes:
    'select sum(octet_length(content)) as used from message_contents where workspace_id = $1',
  suppressions: 'select count(*) as used from suppressions where workspace_id = $1',
  inbound_reports: `select (select count(*) from inbound_reports where workspace_id = $1)
    + (select coalesce(sum(reports), 0) from inbound_requests
      where workspace_id = $1 and failed_at is null) as used`,
};
