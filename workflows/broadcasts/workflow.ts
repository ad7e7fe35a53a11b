/*
 * A broadcast's life, as a loop: read the row, take the step that follows from it, repeat.
 *
 * States of the row: draft, scheduled, processing, paused, testing (sample sent), waiting for the
 * winner, sending the rest, then sent, cancelled or failed. The workflow keeps no state of its own:
 * `lifecycle/next-step.ts` says what is next, so that a run may begin, end or be repeated anywhere.
 *
 * Wakes: a signal `changed` without content, a timer to the start or the end of the test, an hour
 * at most. Updates (pause, resume, cancel, selectWinner) call the same operations as the API.
 *
 * Order while sending: two slices at a time; the freeze runs beside them. An outage pauses the row
 * and its timer resumes it; a permanent error pauses with its reason. Cancelling the workflow
 * cancels the broadcast.
 *
 * Limits: a history ends below a thousand events, then it continues as new.
 */

import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../services/broadcasts/activities/all.ts';
import type { Look } from '../../services/broadcasts/activities/read-plan.ts';
import type { BroadcastKey } from '../../services/broadcasts/broadcast/broadcast.ts';
import type { Step } from '../../services/broadcasts/lifecycle/next-step.ts';
import type { SliceResult } from '../../services/broadcasts/sending/batches.ts';
import { hereFirst } from '../here-first.ts';
import { endsEarly, freezesBeside, looksHere, sendAndFreeze, sendsInTurn } from './older-runs.ts';
import { reasonOf, tell } from './story.ts';

const {
  readPlan,
  begin,
  settle,
  finish,
  pauseBySystem,
  pauseForUnrendered,
  resumeAfterOutage,
  failBroadcast,
  operate,
  cancelIfLive,
  completeTest,
  pickWinner,
  chooseWinner,
} = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  // An operator who waits for a pause should not wait for a long back-off.
  retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
});
/** Without a way to the server and back. */
const { readPlan: readPlanHere } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '2 seconds',
  retry: { maximumAttempts: 1 },
});
const { freezeAudience } = proxyActivities<Activities>({
  // At most two hundred steps of a fraction of a second, each with a heartbeat; the first waits for
  // feeds.
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
});
const { sendSlice } = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '10 seconds' },
});

/**
 * The row has changed and has to be read. It carries no command, so a lost or repeated signal does
 * no harm.
 */
export const changed = defineSignal('changed');
export const pause = defineUpdate<string>('pause');
export const resume = defineUpdate<string>('resume');
export const cancel = defineUpdate<string>('cancel');
export const selectWinner = defineUpdate<string, [templateId: string]>('selectWinner');

/** The row is read at least this often, even without a signal. */
const lookAtLeastEveryMs = 60 * 60_000;
/** A history stays below a thousand events; a step adds some sixty. */
const eventsMax = 700;
/** Slices that are sent concurrently: one sends while another waits for its last answers. */
const slicesAtOnce = 2;
/**
 * Timers follow Temporal's clock, the row that of the services: until they agree, the row is read
 * this often.
 */
const lookAtMostEveryMs = 1_000;

/**
 * A broadcast's life: wait until the start, freeze the plan and the audience, send the slices (with
 * a test: of the sample, wait for the winner, then the rest), finish. Slices of one list are sent
 * while the rest is frozen. The next step always follows from the row, so a run may begin, end or
 * be repeated at any step. `attributes` are the search attributes that the server has.
 */
export async function broadcastLifecycle(key: BroadcastKey, attributes?: string[]): Promise<void> {
  const row = watchRow(key);
  try {
    await live(key, row, attributes);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(async () => {
      await cancelIfLive(key);
      await live(key, row, attributes);
    });
  }
}

async function live(key: BroadcastKey, row: RunState, attributes?: string[]): Promise<void> {
  for (;;) {
    row.isChanged = false;
    const look = await lookAt(key);
    tell(look, attributes);
    if (look.step.do === 'end') {
      await untilAllEnded(row);
      // A signal since then may mean that the broadcast continues.
      if (!row.isChanged) return;
    }
    await orPause(key, () => stepOf(look.step, key, row));
    if (isLong()) {
      row.isLast = true;
      await untilAllEnded(row);
      await continueAsNew<typeof broadcastLifecycle>(key, attributes);
    }
  }
}

async function lookAt(key: BroadcastKey): Promise<Look> {
  if (!looksHere()) return readPlan(key);
  return hereFirst(
    () => readPlanHere(key),
    () => readPlan(key),
  );
}

function isLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || (historyLength > eventsMax && endsEarly());
}

function untilAllEnded(row: RunState): Promise<void> {
  return condition(() => allHandlersFinished() && !row.freezing);
}

type RunState = {
  isChanged: boolean;
  /** The activity that freezes on beside the steps that send. */
  freezing: Promise<unknown> | undefined;
  /** Whether the run ends after this step: no other activity is begun beside it. */
  isLast: boolean;
};

function watchRow(key: BroadcastKey): RunState {
  const row: RunState = { isChanged: false, freezing: undefined, isLast: false };
  setHandler(changed, () => {
    row.isChanged = true;
  });
  const actions = { pause, resume, cancel };
  for (const action of ['pause', 'resume', 'cancel'] as const) {
    const description = `The API's broadcasts.${action}. Answers the new status.`;
    setHandler(actions[action], () => operate(key, action), { description });
  }
  setHandler(selectWinner, (templateId) => chooseWinner(key, templateId), {
    description:
      "The API's broadcasts.selectWinner, with a variation's template. Answers the new status.",
  });
  return row;
}

/** Takes a step of the broadcast. A permanent error stops it with its reason. */
async function orPause(key: BroadcastKey, take: () => Promise<unknown>): Promise<void> {
  try {
    await take();
  } catch (error) {
    if (isCancellation(error)) throw error;
    await pauseBySystem(key, reasonOf(error), 'fault');
  }
}

async function stepOf(step: Step, key: BroadcastKey, row: RunState): Promise<unknown> {
  switch (step.do) {
    case 'wait':
      return waitForChange(step.untilMs, row);
    case 'begin':
      return begin(key);
    case 'freeze':
      return row.freezing ?? freeze(key);
    case 'send':
      if (step.freezes && !freezesBeside()) {
        return sendAndFreeze(
          () => sendSlices(key, step.slices, row),
          () => freeze(key),
        );
      }
      if (step.freezes) freezeOn(key, row);
      return sendSlices(key, step.slices, row);
    case 'resume':
      return resumeAfterOutage(key);
    case 'settle':
      return settle(key);
    case 'pauseForUnrendered':
      return pauseForUnrendered(key);
    case 'completeTest':
      return completeTest(key);
    case 'pickWinner':
      return pickWinner(key);
    case 'finish':
      return finish(key);
    case 'end':
      return undefined;
    default: {
      const impossible: never = step;
      return impossible;
    }
  }
}

function waitForChange(untilMs: number | null, row: RunState): Promise<boolean> {
  const leftMs = untilMs === null ? lookAtLeastEveryMs : untilMs - Date.now();
  const waitMs = Math.max(lookAtMostEveryMs, Math.min(leftMs, lookAtLeastEveryMs));
  const summary =
    untilMs === null ? 'wait for a change' : `wait until ${new Date(untilMs).toISOString()}`;
  return condition(() => row.isChanged, waitMs, { summary });
}

/**
 * Answers whether there is more to freeze. A permanent error fails the broadcast: nobody could
 * resume it.
 */
async function freeze(key: BroadcastKey): Promise<boolean> {
  try {
    const result: { hasMore: boolean } | null = await freezeAudience(key);
    // Workers of older versions answer nothing.
    return result?.hasMore ?? false;
  } catch (error) {
    if (isCancellation(error)) throw error;
    await failBroadcast(key, reasonOf(error));
    return false;
  }
}

/**
 * Freezes the rest, whatever steps are taken meanwhile: none of them waits for more of the audience
 * than it needs.
 */
function freezeOn(key: BroadcastKey, row: RunState): void {
  if (row.freezing) return;
  const freezeAll = async () => {
    for (let hasMore = true; hasMore && !row.isLast; ) {
      const freezing = freeze(key);
      row.freezing = freezing;
      hasMore = await freezing;
    }
  };
  orPause(key, freezeAll)
    // A run that is cancelled hears of it from its step.
    .catch(() => {})
    .finally(() => {
      row.freezing = undefined;
    });
}

/** Sends the slices of a step in turn, until one stops before its end or the row has changed. */
async function sendSlices(key: BroadcastKey, slices: number[], row: RunState): Promise<void> {
  let waiting = [...slices];
  let stopped: SliceResult | undefined;
  const sendInTurn = async () => {
    for (let slice = waiting.shift(); slice !== undefined; slice = waiting.shift()) {
      const result = await sendSlice.executeWithOptions({ summary: `slice ${slice}` }, [
        { ...key, slice },
      ]);
      if (result.outage !== '') stopped ??= result;
      if (result.outage !== '' || result.isUnfinished || row.isChanged) waiting = [];
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce(slices) }, sendInTurn));
  } finally {
    waiting = [];
  }
  if (stopped) await pauseBySystem(key, stopped.outage, 'outage', stopped.outageEndsAtMs);
}

function atOnce({ length }: number[]): number {
  return length > slicesAtOnce && sendsInTurn() ? slicesAtOnce : length;
}
