import { Code, ConnectError } from '@connectrpc/connect';
import { defineEntity, p } from '@mikro-orm/core';

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
export type Status = (typeof statuses)[number];

export type Audience = { list: string; segments: string[]; exclude_unsubscribed: boolean };

export type Schedule = {
  is_scheduled: boolean;
  scheduled_date: string;
  scheduled_time: string;
  timezone: string;
  use_recipient_timezone: boolean;
};

export type TestSettings = { variations: { template_id: string; variation_name: string }[] };

export type Utm = Record<'source' | 'medium' | 'campaign' | 'term' | 'content', string>;

/** What is sent, pinned when the audience is frozen: later edits change nothing of it. */
export type Plan = {
  template_id: string;
  template_version: number;
  integration_id: string;
  rate_limit_per_minute: number;
  list_id: string;
  list_name: string;
  include_unsubscribed: boolean;
  utm: Record<string, string>;
};

export type BroadcastKey = { workspaceId: string; id: string };

const schema = defineEntity({
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
    starts_at: p.datetime().nullable(),
    plan: p.json<Plan>().nullable(),
    frozen_at: p.datetime().nullable(),
    enqueued_count: p.integer(),
    revision: p.integer(),
    paused_from: p.enum(['scheduled', 'sending'] as const).nullable(),
    paused_by: p.enum(['person', 'system'] as const).nullable(),
    pause_reason: p.string().nullable(),
    retry_at: p.datetime().nullable(),
    outages: p.integer(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    started_at: p.datetime().nullable(),
    completed_at: p.datetime().nullable(),
    cancelled_at: p.datetime().nullable(),
    paused_at: p.datetime().nullable(),
  },
});

/** Times after which an outage is tried again by itself; the last one repeats. */
const outageRetryMinutes = [1, 2, 5, 15];

/** One message to the contacts of a list, and the steps it may take. */
export class Broadcast extends schema.class {
  /** Refuses what the state table leaves empty. */
  #allow(deed: string, ...allowed: Status[]): void {
    if (!allowed.includes(this.status)) {
      throw new ConnectError(`cannot ${deed} a ${this.status} broadcast`, Code.FailedPrecondition);
    }
  }

  #changed(now: Date): void {
    this.revision += 1;
    this.updated_at = now;
  }

  update(now: Date): void {
    this.#allow('update', 'draft', 'scheduled', 'paused');
    if (this.frozen_at) {
      throw new ConnectError(
        'cannot update a paused broadcast whose audience is frozen',
        Code.FailedPrecondition,
      );
    }
    this.#changed(now);
  }

  /** Starts at `startsAt`, or at once without one. */
  start(now: Date, startsAt: Date | undefined): void {
    this.#allow('schedule', 'draft');
    this.#changed(now);
    this.starts_at = startsAt ?? now;
    if (startsAt) {
      this.status = 'scheduled';
    } else {
      this.#send(now);
    }
  }

  /** The start time has come. */
  begin(now: Date): void {
    this.#allow('begin', 'scheduled');
    this.#changed(now);
    this.#send(now);
  }

  #send(now: Date): void {
    this.status = 'sending';
    this.started_at ??= now;
  }

  pause(now: Date): void {
    this.#allow('pause', 'scheduled', 'sending');
    this.#pause(now, 'person', null);
  }

  /** An outage pauses and is tried again by itself; anything else that stops a run waits for a person. */
  pauseBySystem(now: Date, reason: string, cause: 'outage' | 'fault'): void {
    this.#allow('pause', 'scheduled', 'sending');
    this.#pause(now, 'system', reason);
    if (cause === 'outage') {
      const step = Math.min(this.outages, outageRetryMinutes.length - 1);
      this.outages += 1;
      this.retry_at = new Date(now.getTime() + (outageRetryMinutes[step] ?? 1) * 60_000);
    }
  }

  #pause(now: Date, by: 'person' | 'system', reason: string | null): void {
    this.paused_from = this.status === 'scheduled' ? 'scheduled' : 'sending';
    this.status = 'paused';
    this.paused_by = by;
    this.pause_reason = reason;
    this.paused_at = now;
    this.#changed(now);
  }

  resume(now: Date): void {
    this.#allow('resume', 'paused');
    const isAhead = (this.starts_at ?? now) > now;
    this.status = isAhead ? 'scheduled' : (this.paused_from ?? 'sending');
    this.paused_from = null;
    this.paused_by = null;
    this.pause_reason = null;
    this.paused_at = null;
    this.retry_at = null;
    this.#changed(now);
  }

  /** Goes on by itself after an outage, unless a person has touched it since. */
  resumeAfterOutage(now: Date): void {
    if (this.status !== 'paused' || !this.retry_at || this.retry_at > now) return;
    this.resume(now);
  }

  cancel(now: Date): void {
    this.#allow('cancel', 'scheduled', 'sending', 'paused');
    this.status = 'cancelled';
    this.cancelled_at = now;
    this.#changed(now);
  }

  /** `touched` is how many recipients have an outcome. */
  checkDeletable(touched: number): void {
    this.#allow('delete', 'draft', 'scheduled', 'paused', 'sent', 'cancelled', 'failed');
    if (this.status === 'paused' && touched > 0) {
      throw new ConnectError(
        'cannot delete a paused broadcast of which something was sent',
        Code.FailedPrecondition,
      );
    }
  }

  complete(now: Date): void {
    this.#allow('complete', 'sending');
    this.status = 'sent';
    this.completed_at = now;
    this.#changed(now);
  }

  /** For what can't be resumed. */
  fail(now: Date, reason: string): void {
    this.#allow('fail', 'scheduled', 'sending');
    this.status = 'failed';
    this.pause_reason = reason;
    this.#changed(now);
  }
}
schema.setClass(Broadcast);
