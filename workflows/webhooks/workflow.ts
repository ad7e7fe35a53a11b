/*
 * The retries of one subscription, as a loop: read when the next is due, wait, send what is due.
 *
 * First attempts are the dispatcher's. The row says everything: enabled, next due, circuit; the run
 * may begin, end or be repeated anywhere. It ends when nothing is left to retry, under a lock that
 * sees later failures (`finishRetries`); a failure after that starts it again by a job.
 *
 * Wakes: a signal `changed`, the next due time, an hour at most. Between passes it rests for 5 s.
 * Updates (retryNow, disable, enable) are the operators' and the API's.
 *
 * Limits: histories of 600 events, then it continues as new.
 */

import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../services/webhooks/activities/all.ts';
import type { Retries } from '../../services/webhooks/sending/retries.ts';
import type { SubscriptionKey } from '../../services/webhooks/subscription.ts';
import { hereFirst } from '../here-first.ts';
import { tell } from './story.ts';

const { readRetries, finishRetries, operate } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '30 seconds' },
});
/** Without a way to the server and back: hundreds of runs may read at a time. */
const { readRetries: readHere } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '2 seconds',
  retry: { maximumAttempts: 1 },
});
const { deliver } = proxyActivities<Activities>({
  // It claims for a minute, then waits for answers and for the database.
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * The row has changed and has to be read. It carries no command, so a lost or repeated signal does
 * no harm.
 */
export const changed = defineSignal('changed');
export const retryNow = defineUpdate<string>('retryNow');
export const disable = defineUpdate<string>('disable');
export const enable = defineUpdate<string>('enable');

/** The row is read at least this often, even without a signal. */
const readAtLeastEveryMs = 60 * 60_000;
/** However many retries become due, a run makes no more passes than this. */
const restMs = 5_000;
/** A history stays well below a thousand events. */
const eventsMax = 600;

/**
 * The retries of one subscription: wait until the next is due, send all that are, until none is
 * left. The service makes first attempts. The next step always follows from the row, so a run may
 * begin, end or be repeated at any point.
 */
export async function webhookRetries(key: SubscriptionKey, attributes: string[]): Promise<void> {
  const row = watchRow(key);
  for (;;) {
    row.isChanged = false;
    const state = await read(key);
    tell(state, attributes);
    if (!hasWork(state) && (await finishRetries(key))) {
      await condition(allHandlersFinished);
      // After a signal that came meanwhile the row is read once more.
      if (!row.isChanged) return;
      continue;
    }
    await step(key, state, row);
    if (workflowInfo().historyLength > eventsMax) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof webhookRetries>(key, attributes);
    }
  }
}

/** Older runs ask the server for each look at the row. */
function read(key: SubscriptionKey): Promise<Retries | null> {
  if (!patched('reads-here')) return readRetries(key);
  return hereFirst(
    () => readHere(key),
    () => readRetries(key),
  );
}

type RunState = { isChanged: boolean };

function watchRow(key: SubscriptionKey): RunState {
  const row: RunState = { isChanged: false };
  setHandler(changed, () => {
    row.isChanged = true;
  });
  const operators = [
    [retryNow, 'retryNow', 'Makes all waiting retries due now.'],
    [
      disable,
      'disable',
      "The API's webhookSubscriptions.toggle: no callback begins until it is enabled.",
    ],
    [enable, 'enable', "The API's webhookSubscriptions.toggle: earlier failures are forgotten."],
  ] as const;
  for (const [update, action, description] of operators) {
    const handle = async () => {
      const status = await operate(key, action);
      row.isChanged = true;
      return status;
    };
    setHandler(update, handle, {
      description: `${description} Answers the subscription's status.`,
    });
  }
  return row;
}

function hasWork(state: Retries | null): boolean {
  return state?.enabled === true && state.nextDueAt !== null;
}

async function step(key: SubscriptionKey, state: Retries | null, row: RunState): Promise<void> {
  const dueAt = state?.nextDueAt ?? Date.now() + restMs;
  if (dueAt > Date.now()) {
    const waitMs = Math.min(dueAt - Date.now(), readAtLeastEveryMs);
    const summary = `wait until ${new Date(dueAt).toISOString()}`;
    await condition(() => row.isChanged, waitMs, { summary });
    return;
  }
  const { hasMore } = await deliver(key);
  if (!hasMore) await condition(() => row.isChanged, restMs, { summary: 'rest' });
}
