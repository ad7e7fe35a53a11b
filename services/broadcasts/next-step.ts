import type { Broadcast } from './broadcast.ts';

/** What the workflow is to do next. Times are Unix milliseconds. */
export type Step =
  | { do: 'wait'; untilMs: number | null }
  | { do: 'begin' }
  | { do: 'freeze' }
  | { do: 'send'; slices: number[] }
  | { do: 'resume' }
  | { do: 'finish' }
  | { do: 'end' };

/** What the slices say: which may be worked on now, and when the next one may. */
export type Progress = { open: number[]; unfinished: number; nextDueAt: Date | null };

/** The one place that says how a broadcast goes on. */
export function nextStep(broadcast: Broadcast, progress: Progress, now: Date): Step {
  switch (broadcast.status) {
    case 'scheduled':
      return stepAt(broadcast.starts_at ?? now, now, 'begin');
    case 'paused':
      return broadcast.retry_at
        ? stepAt(broadcast.retry_at, now, 'resume')
        : { do: 'wait', untilMs: null };
    case 'sending':
      return sendingStep(broadcast, progress);
    default:
      return { do: 'end' };
  }
}

function stepAt(time: Date, now: Date, deed: 'begin' | 'resume'): Step {
  return time > now ? { do: 'wait', untilMs: time.getTime() } : { do: deed };
}

function sendingStep(broadcast: Broadcast, progress: Progress): Step {
  if (!broadcast.frozen_at) return { do: 'freeze' };
  if (progress.open.length > 0) return { do: 'send', slices: progress.open };
  if (progress.unfinished > 0) {
    return { do: 'wait', untilMs: progress.nextDueAt?.getTime() ?? null };
  }
  return { do: 'finish' };
}
