import { defineEntity, p } from '@mikro-orm/core';
import {
  type Audience,
  type Plan,
  type Schedule,
  statuses,
  type TestSettings,
  type Utm,
} from './broadcast-settings.ts';
import type { StoredDataFeed } from './feeds/data-feed.ts';

/** What is stored of a broadcast; the rules are the methods of `Broadcast`. */
export const broadcastSchema = defineEntity({
  name: 'Broadcast',
  tableName: 'broadcasts',
  properties: {
    workspace_id: p.string().primary(),
    id: p.string().primary(),
    name: p.string(),
    status: p.enum(statuses),
    audience: p.json<Audience>(),
    schedule: p.json<Schedule>(),
    test_settings: p.json<TestSettings>(),
    utm_parameters: p.json<Utm>(),
    metadata: p.json<Record<string, unknown>>().nullable(),
    data_feed: p.json<StoredDataFeed>().nullable(),
    global_feed_fetched_at: p.datetime().nullable(),
    starts_at: p.datetime().nullable(),
    plan: p.json<Plan>().nullable(),
    frozen_at: p.datetime().nullable(),
    enqueued_count: p.integer(),
    test_phase_recipient_count: p.integer(),
    winner_phase_recipient_count: p.integer(),
    winning_template: p.string().nullable(),
    winner_decided_by: p
      .enum(['person', 'open_rate', 'click_rate', 'tie', 'silence'] as const)
      .nullable(),
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
    /** Set when it pauses for what can't be rendered: whoever resumes it wants the rest sent all the same. */
    bears_unrendered: p.boolean(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    started_at: p.datetime().nullable(),
    completed_at: p.datetime().nullable(),
    cancelled_at: p.datetime().nullable(),
    paused_at: p.datetime().nullable(),
  },
});
