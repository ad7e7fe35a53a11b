import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import type { SampleNumbers, StoredStatus } from '../broadcast/row.ts';
import type { Outcomes } from '../variations/outcomes.ts';
import type { TemplateOf } from '../variations/templates.ts';
import { dataFeedMessage } from './data-feed.ts';

const words: Record<StoredStatus, BroadcastStatus> = {
  draft: BroadcastStatus.DRAFT,
  scheduled: BroadcastStatus.SCHEDULED,
  sending: BroadcastStatus.SENDING,
  paused: BroadcastStatus.PAUSED,
  sent: BroadcastStatus.SENT,
  cancelled: BroadcastStatus.CANCELLED,
  failed: BroadcastStatus.FAILED,
  testing: BroadcastStatus.TESTING,
  test_completed: BroadcastStatus.TEST_COMPLETED,
  winner_selected: BroadcastStatus.WINNER_SELECTED,
};

export function statusWord(status: BroadcastStatus): StoredStatus | undefined {
  return Object.entries(words).find(([, value]) => value === status)?.[0] as
    | StoredStatus
    | undefined;
}

export function statusEnum(status: StoredStatus): BroadcastStatus {
  return words[status];
}

/**
 * Read beside the row. Without `templateOf` the templates stay out, without `globalFeedJson` the
 * feed's data.
 */
type Parts = Outcomes & {
  pageUrlOf: (key: BroadcastKey) => string | undefined;
  templateOf?: TemplateOf | undefined;
  globalFeedJson?: string;
};

export function broadcastMessage(broadcast: Broadcast, parts: Parts) {
  const counts = parts.countsOf(broadcast.id);
  const time = (date: Date | null | undefined) => (date ? timestampFromDate(date) : undefined);
  return {
    id: broadcast.id,
    workspaceId: broadcast.workspace_id,
    name: broadcast.name,
    channelType: 'email',
    status: words[broadcast.status],
    audience: camelKeys(broadcast.audience),
    schedule: camelKeys(broadcast.schedule),
    testSettings: testMessage(broadcast, parts),
    utmParameters: broadcast.utm_parameters,
    metadata: (broadcast.metadata ?? undefined) as JsonObject | undefined,
    enqueuedCount: broadcast.enqueued_count,
    audienceFrozenAt: time(broadcast.frozen_at),
    scheduledAt: broadcast.status === 'draft' ? undefined : time(broadcast.starts_at),
    testPhaseRecipientCount: broadcast.test_phase_recipient_count,
    winnerPhaseRecipientCount: broadcast.winner_phase_recipient_count,
    winningTemplate: broadcast.winning_template ?? undefined,
    testSentAt: time(broadcast.test_sent_at),
    winnerSentAt: time(broadcast.winner_sent_at),
    sentCount: counts.sent,
    failedCount: counts.failed,
    skippedCount: counts.skipped,
    deferredCount: counts.deferred,
    integrationId: broadcast.integration_id,
    tags: broadcast.tags ?? [],
    createdAt: time(broadcast.created_at),
    updatedAt: time(broadcast.updated_at),
    startedAt: time(broadcast.started_at),
    completedAt: time(broadcast.completed_at),
    cancelledAt: time(broadcast.cancelled_at),
    pausedAt: time(broadcast.paused_at),
    pauseReason: broadcast.pause_reason ?? undefined,
    dataFeed: dataFeedMessage(broadcast, parts.globalFeedJson),
    pageUrl: parts.pageUrlOf({ workspaceId: broadcast.workspace_id, id: broadcast.id }),
  };
}

function testMessage(broadcast: Broadcast, { statsOf, templateOf }: Parts) {
  const test = broadcast.test_settings;
  return {
    ...camelKeys(test),
    samplePercent: test.sample_percentage,
    samplePercentage: Math.floor(test.sample_percentage),
    variations: test.variations.map((variation, arm) => ({
      ...camelKeys(variation),
      metrics: statsOf && metricsMessage(statsOf(broadcast.id, variation.template_id)),
      testMetrics: testMetricsOf(broadcast, variation.template_id),
      template: templateOf?.(broadcast, arm),
    })),
  };
}

function testMetricsOf({ sample_numbers }: Broadcast, templateId: string) {
  const numbers = sample_numbers?.find(({ template_id }) => template_id === templateId);
  return numbers && metricsMessage(numbers);
}

function metricsMessage(stats: Omit<SampleNumbers, 'template_id'> | undefined) {
  return {
    recipients: stats?.sent,
    delivered: stats?.delivered,
    opens: stats?.opened,
    clicks: stats?.clicked,
    bounced: stats?.bounced,
    complained: stats?.complained,
    unsubscribed: stats?.unsubscribed,
  };
}
