import type { Client } from '@temporalio/client';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { runSignaller } from '#lib/temporal/signal-run.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { workflow, workflowIdOf } from '../lifecycle/run.ts';
import { addWake, type BroadcastWake } from '../lifecycle/wake.ts';

const retryMs = 1_000;

/**
 * Signals the broadcast's run, or starts it. While Temporal is down it reschedules itself, so that
 * it never blocks the queue.
 */
export function wake({ temporal, store, log }: { temporal: Client; store: Store; log: Log }) {
  const signal = runSignaller<BroadcastKey>(temporal, workflow);
  return async (payload: unknown): Promise<void> => {
    const { key, name } = payload as BroadcastWake;
    const workflowId = workflowIdOf(key);
    try {
      await signal({ key, workflowId, summary: name });
    } catch (error) {
      log.warn({ err: error, workflow: workflowId }, 'Temporal did not take a wake; trying again');
      const runAt = new Date(Date.now() + retryMs);
      await store.fork().transactional((em) => addWake(em, { key, name }, runAt));
    }
  };
}
