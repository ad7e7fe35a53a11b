import type { EventJob } from './event-turns.ts';

/**
 * Small batches that a process makes are locked for its own runner as they are inserted, and handed
 * over after the commit: no claim reads and writes them once more. A process that dies
 * leaves them as it leaves jobs that it has claimed.
 */

/** A runner that takes new jobs. */
export type Taker = {
  workerId: string;
  /** Whether it has room, and nothing older of the workspace may be left in the table. */
  mayTake(workspaceId: string): boolean;
  /** Call it after the commit. */
  take(jobs: readonly EventJob[]): void;
};

const takers = new Map<string, Taker>();

/** Has a runner take new jobs of a service; ends with the function that it answers. */
export function onNewJobs(service: string, taker: Taker): () => void {
  takers.set(service, taker);
  return () => {
    if (takers.get(service) === taker) takers.delete(service);
  };
}

/** The runner that takes new jobs of a workspace now. */
export function takerOf(service: string, workspaceId: string): Taker | undefined {
  const taker = takers.get(service);
  return taker?.mayTake(workspaceId) ? taker : undefined;
}
