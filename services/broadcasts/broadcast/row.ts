import { defineEntity, p } from '@mikro-orm/core';
import { NarrowedJson } from './narrowed-json.ts';

export const statuses = [
  'draft',
  'scheduled',
  'sending',
  'paused',
  'sent',
  'cancelled',
  'failed',
  'testing',
  'test_completed',
  'winner_selected',
] as const;
export type StoredStatus = (typeof statuses)[number];

/** The states in which messages may be sent. */
export const moving = ['testing', 'test_completed', 'winner_selected', 'sending'] as const;
export type MovingStatus = (typeof moving)[number];

export function isMoving(status: StoredStatus | null | undefined): status is MovingStatus {
  return moving.some((each) => each === status);
}

/** The states before a test has a winner. */
export function isTest(status: StoredStatus | null | undefined): boolean {
  return status === 'testing' || status === 'test_completed';
}

/** The states after which nothing is sent any more. */
export function isOver(status: StoredStatus): boolean {
  return status === 'sent' || status === 'cancelled' || status === 'failed';
}

/** The states that have a run, which may be halted. */
export function isUnderWay(status: StoredStatus): boolean {
  return isMoving(status) || status === 'scheduled';
}

export type StoredAudience = {
  list: string;
  further_lists: string[];
  segments: string[];
  exclude_unsubscribed: boolean;
  /** The broadcast that they got and did not open; absent for any audience without it. */
  not_opened_of?: string;
};

/** None for a broadcast to segments alone. */
export function listsOf({ list, further_lists }: StoredAudience): string[] {
  return list === '' ? [] : [list, ...further_lists];
}

export type Schedule = {
  is_scheduled: boolean;
  scheduled_date: string;
  scheduled_time: string;
  timezone: string;
  use_recipient_timezone: boolean;
};

export type WinnerMetric = 'open_rate' | 'click_rate';

export type TestSettings = {
  enabled: boolean;
  sample_percentage: number;
  auto_send_winner: boolean;
  auto_send_winner_metric: WinnerMetric | '';
  test_duration_hours: number;
  variations: { template_id: string; variation_name: string }[];
};

/**
 * Why a variation won: a person chose it, it has the best numbers, or it is the first of equal
 * ones.
 */
export type DecidedBy = 'person' | WinnerMetric | 'tie' | 'silence';

/** The outcomes of a variation's messages. */
export type SampleNumbers = {
  template_id: string;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
};

export type StoredUtm = Record<'source' | 'medium' | 'campaign' | 'term' | 'content', string>;

/** The content that is sent, pinned when the audience is frozen: later edits don't change it. */
export type Plan = {
  /** By arm; one without a test. */
  variations: { template_id: string; template_version: number }[];
  integration_id: string;
  rate_limit_per_minute: number;
  /** None for a broadcast to segments alone. */
  lists: { id: string; name: string }[];
  /** Absent in plans from before segments. */
  segments?: string[];
  /** Absent for none. */
  not_opened_of?: string;
  /** When that broadcast started; its messages are kept for a number of days. */
  not_opened_since?: string;
  include_unsubscribed: boolean;
  utm: Record<string, string>;
  /** Absent for none. */
  tags?: string[];
  /** True where the answer of a global feed is kept beside the row. */
  has_global_feed?: boolean;
  recipient_feed?: SealedFeed;
};

/** A feed as it is stored: each value sealed for its broadcast, kind and name. */
export type SealedFeed = { url: string; headers: readonly SealedHeader[] };

export type SealedHeader = { name: string; sealed_value: string };

export type StoredFeed = SealedFeed & { enabled: boolean };

/** The configured feeds of a broadcast. */
export type StoredDataFeed = { global_feed?: StoredFeed; recipient_feed?: StoredFeed };

/**
 * Whether the first page of the audience is stored and later ones are still to come, or to be cut.
 */
export function isFreezing(row: {
  status: StoredStatus;
  plan?: Plan | null;
  frozen_at?: Date | null;
}): boolean {
  return Boolean(row.plan) && !row.frozen_at && !isOver(row.status);
}

/**
 * True where all recipients get the same content at the same time, so that slices are sent as soon
 * as they are cut.
 */
export function isUniform(row: {
  audience: StoredAudience;
  schedule: Schedule;
  test_settings: TestSettings;
}): boolean {
  const { audience, schedule, test_settings: test } = row;
  return listsOf(audience).length <= 1 && !test.enabled && !schedule.use_recipient_timezone;
}

/** The columns of a broadcast; its rules are the methods of `Broadcast`. */
export const broadcastSchema = defineEntity({
  name: 'Broadcast',
  tableName: 'broadcasts',
  properties: {
    workspace_id: p.string().primary(),
    id: p.string().primary(),
    name: p.string(),
    status: p.enum(statuses),
    audience: p.type(NarrowedJson).$type<StoredAudience>(),
    schedule: p.json<Schedule>(),
    test_settings: p.json<TestSettings>(),
    utm_parameters: p.json<StoredUtm>(),
    metadata: p.json<Record<string, unknown>>().nullable(),
    /** Empty for the marketing provider of the settings. */
    integration_id: p.string(),
    tags: p.json<string[]>().nullable(),
    data_feed: p.json<StoredDataFeed>().nullable(),
    global_feed_fetched_at: p.datetime().nullable(),
    starts_at: p.datetime().nullable(),
    plan: p.type(NarrowedJson).$type<Plan>().nullable(),
    /** The last address of the stored pages, while there are more; null before and after. */
    freeze_after: p.string().nullable(),
    /** When the whole audience was in slices. */
    frozen_at: p.datetime().nullable(),
    enqueued_count: p.integer(),
    test_phase_recipient_count: p.integer(),
    winner_phase_recipient_count: p.integer(),
    winning_template: p.string().nullable(),
    winner_decided_by: p
      .enum(['person', 'open_rate', 'click_rate', 'tie', 'silence'] as const)
      .nullable(),
    /** The numbers of the sample, kept when the winner was chosen. */
    sample_numbers: p.json<SampleNumbers[]>().nullable(),
    test_sent_at: p.datetime().nullable(),
    winner_sent_at: p.datetime().nullable(),
    revision: p.integer(),
    paused_from: p
      .enum(['scheduled', 'testing', 'test_completed', 'winner_selected', 'sending'] as const)
      .nullable(),
    paused_by: p.enum(['person', 'system'] as const).nullable(),
    pause_reason: p.string().nullable(),
    retry_at: p.datetime().nullable(),
    outages: p.integer(),
    /** Set when render failures pause it: a person who resumes it wants the rest sent anyway. */
    ignore_render_failures: p.boolean().name('bears_unrendered'),
    /** Set when complaints pause it, likewise. */
    ignore_complaints: p.boolean(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    started_at: p.datetime().nullable(),
    completed_at: p.datetime().nullable(),
    cancelled_at: p.datetime().nullable(),
    paused_at: p.datetime().nullable(),
  },
});

/** The columns of a draft that nothing has happened to. */
export const newDraft = {
  status: 'draft',
  schedule: {
    is_scheduled: false,
    scheduled_date: '',
    scheduled_time: '',
    timezone: '',
    use_recipient_timezone: false,
  },
  enqueued_count: 0,
  test_phase_recipient_count: 0,
  winner_phase_recipient_count: 0,
  revision: 0,
  outages: 0,
  ignore_render_failures: false,
  ignore_complaints: false,
} as const;
