import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast } from '../broadcast.ts';
import { type Counts, countsOf } from '../broadcast-queries.ts';
import type { Status } from '../broadcast-row.ts';
import type { Peers } from '../peers.ts';
import { readStatsIfReached, type StatsOf } from '../variations/stats.ts';
import { dataFeedMessage } from './data-feed.ts';

const words: Record<Status, BroadcastStatus> = {
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

export function statusWord(status: BroadcastStatus): Status | undefined {
  return Object.entries(words).find(([, value]) => value === status)?.[0] as Status | undefined;
}

export function statusEnum(status: Status): BroadcastStatus {
  return words[status];
}

/** Broadcasts as the API shows them, with what became of their recipients. */
export async function broadcastMessages(
  context: Pick<Peers, 'sender'>,
  em: EntityManager,
  broadcasts: readonly Broadcast[],
) {
  const [first] = broadcasts;
  if (!first) return [];
  const ids = broadcasts.map(({ id }) => id);
  const [counts, statsOf] = await Promise.all([
    countsOf(em, first.workspace_id, ids),
    readStatsIfReached(context, broadcasts),
  ]);
  return broadcasts.map((broadcast) => message(broadcast, counts(broadcast.id), statsOf));
}

function message(broadcast: Broadcast, counts: Counts, statsOf: StatsOf | undefined) {
  const time = (date: Date | null | undefined) => (date ? timestampFromDate(date) : undefined);
  return {
    id: broadcast.id,
    workspaceId: broadcast.workspace_id,
    name: broadcast.name,
    channelType: 'email',
    status: words[broadcast.status],
    audience: {
      list: broadcast.audience.list,
      furtherLists: broadcast.audience.further_lists,
      segments: broadcast.audience.segments,
      excludeUnsubscribed: broadcast.audience.exclude_unsubscribed,
    },
    schedule: {
      isScheduled: broadcast.schedule.is_scheduled,
      scheduledDate: broadcast.schedule.scheduled_date,
      scheduledTime: broadcast.schedule.scheduled_time,
      timezone: broadcast.schedule.timezone,
      useRecipientTimezone: broadcast.schedule.use_recipient_timezone,
    },
    testSettings: testMessage(broadcast, statsOf),
    utmParameters: broadcast.utm_parameters,
    metadata: (broadcast.metadata ?? undefined) as JsonObject | undefined,
    enqueuedCount: broadcast.enqueued_count,
    testPhaseRecipientCount: broadcast.test_phase_recipient_count,
    winnerPhaseRecipientCount: broadcast.winner_phase_recipient_count,
    winningTemplate: broadcast.winning_template ?? undefined,
    testSentAt: time(broadcast.test_sent_at),
    winnerSentAt: time(broadcast.winner_sent_at),
    sentCount: counts.sent,
    failedCount: counts.failed,
    skippedCount: counts.skipped,
    deferredCount: counts.deferred,
    createdAt: time(broadcast.created_at),
    updatedAt: time(broadcast.updated_at),
    startedAt: time(broadcast.started_at),
    completedAt: time(broadcast.completed_at),
    cancelledAt: time(broadcast.cancelled_at),
    pausedAt: time(broadcast.paused_at),
    pauseReason: broadcast.pause_reason ?? undefined,
    dataFeed: dataFeedMessage(broadcast),
  };
}

function testMessage({ id, test_settings: test }: Broadcast, statsOf: StatsOf | undefined) {
  return {
    enabled: test.enabled,
    samplePercentage: test.sample_percentage,
    autoSendWinner: test.auto_send_winner,
    autoSendWinnerMetric: test.auto_send_winner_metric,
    testDurationHours: test.test_duration_hours,
    variations: test.variations.map(
      ({ template_id: templateId, variation_name: variationName }) => ({
        templateId,
        variationName,
        metrics: statsOf && metricsMessage(statsOf(id, templateId)),
      }),
    ),
  };
}

function metricsMessage(stats: ReturnType<StatsOf>) {
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
