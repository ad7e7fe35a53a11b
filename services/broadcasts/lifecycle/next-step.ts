import type { Broadcast } from '../broadcast/broadcast.ts';
import { isMoving, isUniform } from '../broadcast/row.ts';

/** The next step of the workflow. Times are Unix milliseconds. */
export type Step =
  | { do: 'wait'; untilMs: number | null }
  | { do: 'begin' }
  | { do: 'freeze' }
  /** `freezes`: the rest of the audience is frozen meanwhile. */
  | { do: 'send'; slices: number[]; freezes?: true }
  | { do: 'resume' }
  | { do: 'settle' }
  | { do: 'pauseForUnrendered' }
  | { do: 'completeTest' }
  | { do: 'pickWinner' }
  | { do: 'finish' }
  | { do: 'end' };

/** The state of slices: which may be sent now, and when the next one may. */
export type AudienceProgress = { open: number[]; unfinished: number; nextDueAt: Date | null };

/**
 * Progress of a test's sample and of the whole audience, whether too many messages failed to
 * render, and when started messages are counted next; null if all are.
 */
export type AudienceParts = {
  sample: AudienceProgress;
  all: AudienceProgress;
  hasTooManyRenderFailures: boolean;
  settleAt: Date | null;
};

/** The only place that decides how a broadcast continues. */
export function nextStep(broadcast: Broadcast, parts: AudienceParts, now: Date): Step {
  if (
    parts.hasTooManyRenderFailures &&
    isMoving(broadcast.status) &&
    !broadcast.ignore_render_failures
  ) {
    return { do: 'pauseForUnrendered' };
  }
  switch (broadcast.status) {
    case 'scheduled':
      return stepAt(broadcast.starts_at ?? now, now, 'begin');
    case 'paused':
      return pausedStep(broadcast, parts, now);
    case 'testing':
    case 'test_completed':
      return testStep(broadcast, parts.sample, now);
    case 'winner_selected':
    case 'sending':
      return sendingStep(broadcast, parts.all);
    default:
      return parts.settleAt ? stepAt(parts.settleAt, now, 'settle') : { do: 'end' };
  }
}

function pausedStep({ retry_at }: Broadcast, { settleAt }: AudienceParts, now: Date): Step {
  if (retry_at && retry_at <= now) return { do: 'resume' };
  if (settleAt && settleAt <= now) return { do: 'settle' };
  return waitFor(earliest(retry_at, settleAt));
}

function earliest(...times: (Date | null | undefined)[]): Date | null {
  const known = times.flatMap((time) => (time ? [time.getTime()] : []));
  return known.length > 0 ? new Date(Math.min(...known)) : null;
}

function stepAt(time: Date, now: Date, action: 'begin' | 'settle'): Step {
  return time > now ? waitFor(time) : { do: action };
}

function waitFor(time: Date | null | undefined): Step {
  return { do: 'wait', untilMs: time?.getTime() ?? null };
}

function sendingStep(broadcast: Broadcast, progress: AudienceProgress): Step {
  if (!broadcast.frozen_at) return freezingStep(broadcast, progress);
  if (progress.open.length > 0) return { do: 'send', slices: progress.open };
  if (progress.unfinished > 0) return waitFor(progress.nextDueAt);
  return { do: 'finish' };
}

function freezingStep(broadcast: Broadcast, { open }: AudienceProgress): Step {
  if (open.length === 0 || !isUniform(broadcast)) return { do: 'freeze' };
  return { do: 'send', slices: open, freezes: true };
}

/**
 * Deferred recipients of the sample delay neither the test nor the winner, and are retried
 * meanwhile.
 */
function testStep(broadcast: Broadcast, sample: AudienceProgress, now: Date): Step {
  if (!broadcast.frozen_at || broadcast.needsNoWinner()) return sendingStep(broadcast, sample);
  if (sample.open.length > 0) return { do: 'send', slices: sample.open };
  if (broadcast.status === 'testing') return { do: 'completeTest' };
  const judgedAt = broadcast.judgedAt();
  if (judgedAt && judgedAt <= now) return { do: 'pickWinner' };
  return waitFor(earliest(judgedAt, sample.nextDueAt));
}
