import type { Client } from '@temporalio/client';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { runSignaller } from '#lib/temporal/signal-run.ts';
import { workflow, workflowIdOf } from '../lifecycle/run.ts';
import { addWake, type SubscriptionWake } from '../lifecycle/wake.ts';
import type { SubscriptionKey } from '../subscription.ts';

const retryMs = 1_000;

/**
 * Signals the subscription's run, or starts it. While Temporal is down it reschedules itself, so
 * that it never blocks the queue.
 */
export function wake({ temporal, store, log }: { temporal: Client; store: Store; log: Log }) {
  const signal = runSignaller<SubscriptionKey>(temporal, workflow);
  return async (payload: unknown): Promise<void> => {
    const { key, host } = payload as SubscriptionWake;
    const workflowId = workflowIdOf(key);
    try {
      await signal({ key, workflowId, summary: `webhooks to ${host}` });
    } catch (error) {
      log.warn({ err: error, workflow: workflowId }, 'Temporal did not take a wake; trying again');
      const runAt = new Date(Date.now() + retryMs);
      await store.fork().transactional((em) => addWake(em, { key, host }, runAt));
    }
  };
}
