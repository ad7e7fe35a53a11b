import type { Client } from '@temporalio/client';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { runSignaller } from '#lib/temporal/signal-run.ts';
import { workflow, workflowIdOf } from '../segments/build/run.ts';
import { addWake } from '../segments/build/wake.ts';
import type { SegmentKey } from '../segments/segment.ts';

const retryMs = 1_000;

/**
 * Signals the segment's run, or starts it. While Temporal is down it reschedules itself, so that it
 * never blocks the queue.
 */
export function wake({ temporal, store, log }: { temporal: Client; store: Store; log: Log }) {
  const signal = runSignaller<SegmentKey>(temporal, workflow);
  return async (payload: unknown): Promise<void> => {
    const key = payload as SegmentKey;
    const workflowId = workflowIdOf(key);
    try {
      await signal({ key, workflowId, summary: `build of segment ${key.id}` });
    } catch (error) {
      log.warn({ err: error, workflow: workflowId }, 'Temporal did not take a wake; trying again');
      await addWake(store.fork(), key, new Date(Date.now() + retryMs));
    }
  };
}
