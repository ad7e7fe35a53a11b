import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import {
  broadcastSchema,
  type DecidedBy,
  isMoving,
  isTest,
  type MovingStatus,
  moving,
  type SampleNumbers,
  type StoredAudience,
  type StoredStatus,
  type StoredUtm,
  type TestSettings,
} from './row.ts';

export type BroadcastKey = { workspaceId: string; id: string };

/** The columns that create and update write. */
export type BroadcastContent = {
  name: string;
  audience: StoredAudience;
  test_settings: TestSettings;
  utm_parameters: StoredUtm;
  metadata: Record<string, unknown> | null;
  /** Empty for the marketing provider of the settings. */
  integration_id: string;
  tags: string[] | null;
};

/** `sample` has the numbers that the test had when it was chosen. */
export type Winner = {
  templateId: string;
  decidedBy: DecidedBy;
  sample: SampleNumbers[] | undefined;
};

/** The integration that a broadcast is sent through. */
export type Provider = { integrationId: string; ratePerMinute: number };

/**
 * The provider for the rest of a broadcast; `begunAt` is when its oldest unfinished slice was
 * begun.
 */
export type Rest = { provider: Provider | undefined; begunAt: Date | undefined };

/** Waits before an outage is retried automatically; the last one repeats. */
const outageRetryMinutes = [1, 2, 5, 15];

/** Why the system pauses; `endsAt` if known. */
type Stop = { reason: string; cause: 'outage' | 'fault'; endsAt?: Date };

/** One message to the contacts of a list, and its state transitions. */
export class Broadcast extends broadcastSchema.class {
  update(now: Date, content: BroadcastContent): void {
    allow(this, 'update', 'draft', 'scheduled', 'paused');
    if (this.plan) {
      throw refusal(
        'BROADCAST_STATUS',
        'cannot update a paused broadcast whose audience is frozen',
      );
    }
    Object.assign(this, content);
    if (!hasWinner(this)) {
      this.winning_template = null;
      this.winner_decided_by = null;
      this.sample_numbers = null;
    }
    if (isMoving(this.paused_from)) this.paused_from = phaseOf(this);
    change(this, now);
  }

  /** Starts at `startsAt`, or at once without one. */
  start(now: Date, startsAt: Date | undefined): void {
    allow(this, 'schedule', 'draft');
    change(this, now);
    this.starts_at = startsAt ?? now;
    if (startsAt) {
      this.status = 'scheduled';
    } else {
      startMoving(this, now);
    }
  }

  /** The start time has come. */
  begin(now: Date): void {
    allow(this, 'begin', 'scheduled');
    change(this, now);
    startMoving(this, now);
  }

  /**
   * A pause by the system becomes a pause by a person: it keeps its reason and no longer ends
   * automatically.
   */
  pause(now: Date): void {
    if (this.status === 'paused' && this.paused_by === 'system') {
      this.paused_by = 'person';
      this.retry_at = null;
      change(this, now);
      return;
    }
    allow(this, 'pause', 'scheduled', ...moving);
    halt(this, now, { who: 'person', reason: null });
  }

  /**
   * An outage pauses and is retried automatically; anything else that stops a run waits for a
   * person.
   */
  pauseBySystem(now: Date, { reason, cause, endsAt }: Stop): void {
    allow(this, 'pause', 'scheduled', ...moving);
    halt(this, now, { who: 'system', reason });
    if (endsAt) {
      this.retry_at = endsAt;
    } else if (cause === 'outage') {
      const step = Math.min(this.outages, outageRetryMinutes.length - 1);
      this.outages += 1;
      this.retry_at = new Date(now.getTime() + (outageRetryMinutes[step] ?? 1) * 60_000);
    }
  }

  /** Pauses once: a person who resumes has read the reason and is not stopped by it again. */
  pauseForUnrendered(now: Date, reason: string): void {
    this.pauseBySystem(now, { reason, cause: 'fault' });
    this.ignore_render_failures = true;
  }

  /** Pauses once, likewise. */
  pauseForComplaints(now: Date, reason: string): void {
    this.pauseBySystem(now, { reason, cause: 'fault' });
    this.ignore_complaints = true;
  }

  /** Content stays pinned; the provider is the one that is given. */
  resume(now: Date, { provider, begunAt }: Rest): void {
    allow(this, 'resume', 'paused');
    const fault = staleness(this, now, begunAt);
    if (fault) throw refusal('BROADCAST_STATUS', fault);
    if (this.plan && provider) {
      const { integrationId, ratePerMinute } = provider;
      const bound = { integration_id: integrationId, rate_limit_per_minute: ratePerMinute };
      this.plan = { ...this.plan, ...bound };
    }
    const isAhead = !this.plan && (this.starts_at ?? now) > now;
    if (isAhead) this.status = 'scheduled';
    else startMoving(this, now);
    this.paused_from = null;
    this.paused_by = null;
    this.pause_reason = null;
    this.paused_at = null;
    this.retry_at = null;
    change(this, now);
  }

  /**
   * Continues automatically after an outage, unless a person has changed the broadcast since. One
   * that may not be resumed stays paused, and says why.
   */
  resumeAfterOutage(now: Date, rest: Rest): void {
    if (this.status !== 'paused' || !this.retry_at || this.retry_at > now) return;
    const fault = staleness(this, now, rest.begunAt);
    if (fault) {
      this.retry_at = null;
      this.pause_reason = fault;
      change(this, now);
    } else {
      this.resume(now, rest);
    }
  }

  cancel(now: Date): void {
    allow(this, 'cancel', 'scheduled', 'paused', ...moving);
    this.status = 'cancelled';
    this.freeze_after = null;
    this.cancelled_at = now;
    change(this, now);
  }

  /**
   * `touched` is how many recipients have an outcome; while it is not `isCounted`, there may be
   * more.
   */
  checkDeletable({ touched, isCounted }: { touched: number; isCounted: boolean }): void {
    allow(this, 'delete', 'draft', 'scheduled', 'paused', 'sent', 'cancelled', 'failed');
    if (!isCounted && (this.status === 'paused' || this.status === 'cancelled')) {
      throw refusal(
        'BROADCAST_STATUS',
        `cannot delete a ${this.status} broadcast before it is known what was sent; try again`,
      );
    }
    if (this.status === 'paused' && touched > 0) {
      throw refusal(
        'BROADCAST_STATUS',
        'cannot delete a paused broadcast of which something was sent',
      );
    }
  }

  /** Everybody in the sample was tried; deferred recipients are still retried. */
  completeTest(now: Date): void {
    allow(this, 'complete the test of', 'testing');
    this.status = 'test_completed';
    this.test_sent_at = now;
    change(this, now);
  }

  /**
   * Sets the variation for everybody without a message, and keeps the numbers of the sample, if
   * they are known. A pause in the test stays a pause.
   */
  selectWinner(now: Date, { templateId, decidedBy, sample }: Winner): void {
    const isPausedTest = this.status === 'paused' && isTest(this.paused_from);
    if (!isPausedTest) allow(this, 'select a winner of', 'testing', 'test_completed');
    if (!this.test_settings.variations.some(({ template_id }) => template_id === templateId)) {
      throw invalidField('template_id', 'the template is none of the variations');
    }
    if (isPausedTest) this.paused_from = 'winner_selected';
    else this.status = 'winner_selected';
    this.winning_template = templateId;
    this.winner_decided_by = decidedBy;
    this.sample_numbers = sample ?? null;
    change(this, now);
  }

  /** When the winner is picked by numbers; undefined where only a person picks it. */
  winnerDueAt(): Date | undefined {
    const { auto_send_winner, test_duration_hours } = this.test_settings;
    if (!auto_send_winner || !this.test_sent_at) return undefined;
    return new Date(this.test_sent_at.getTime() + test_duration_hours * 3_600_000);
  }

  /** A test that leaves nobody for a winner ends with its sample. */
  needsNoWinner(): boolean {
    return this.frozen_at !== null && this.winner_phase_recipient_count === 0;
  }

  complete(now: Date): void {
    if (this.needsNoWinner()) allow(this, 'complete', ...moving);
    else allow(this, 'complete', 'sending', 'winner_selected');
    this.status = 'sent';
    this.completed_at = now;
    if (this.winning_template) this.winner_sent_at = now;
    change(this, now);
  }

  /** For failures that resume can't repair. */
  fail(now: Date, reason: string): void {
    allow(this, 'fail', 'scheduled', ...moving);
    this.status = 'failed';
    this.freeze_after = null;
    this.pause_reason = reason;
    change(this, now);
  }
}
broadcastSchema.setClass(Broadcast);

// Functions and not private methods: the ORM makes entities without calling their constructor.

/** The history answers who was sent to already, and may be cleared after 90 days. */
const stoppedMaxMs = 60 * 24 * 60 * 60 * 1_000;

/**
 * Why a broadcast may not be resumed any more. Pauses and outages add up while a slice is not done.
 */
function staleness({ plan, paused_at }: Broadcast, now: Date, begunAt: Date | undefined) {
  const isStale = (since: Date | null | undefined) =>
    since && now.getTime() - since.getTime() > stoppedMaxMs;
  if (plan && isStale(paused_at)) return 'cannot resume a broadcast that was paused for 60 days';
  if (plan && isStale(begunAt)) {
    return 'cannot resume a broadcast that stopped amid a group of recipients and did not finish it in 60 days';
  }
  return undefined;
}

/** Refuses an action that the state table does not allow. */
function allow({ status }: Broadcast, action: string, ...allowed: StoredStatus[]): void {
  if (!allowed.includes(status)) {
    throw refusal('BROADCAST_STATUS', `cannot ${action} a ${status} broadcast`);
  }
}

function change(broadcast: Broadcast, now: Date): void {
  broadcast.revision += 1;
  broadcast.updated_at = now;
}

/**
 * The state of a broadcast that continues: it follows from the row, not from the state before the
 * pause.
 */
function phaseOf(broadcast: Broadcast): MovingStatus {
  if (!broadcast.test_settings.enabled) return 'sending';
  if (hasWinner(broadcast)) return 'winner_selected';
  return broadcast.test_sent_at ? 'test_completed' : 'testing';
}

function hasWinner({ test_settings: { enabled, variations }, winning_template }: Broadcast) {
  return enabled && variations.some(({ template_id }) => template_id === winning_template);
}

function startMoving(broadcast: Broadcast, now: Date): void {
  broadcast.status = phaseOf(broadcast);
  broadcast.started_at ??= now;
}

function halt(
  broadcast: Broadcast,
  now: Date,
  by: { who: 'person' | 'system'; reason: string | null },
): void {
  broadcast.paused_from = isMoving(broadcast.status) ? broadcast.status : 'scheduled';
  broadcast.status = 'paused';
  broadcast.paused_by = by.who;
  broadcast.pause_reason = by.reason;
  broadcast.paused_at = now;
  change(broadcast, now);
}
