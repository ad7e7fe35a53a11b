import type { LogEntry } from '@temporalio/worker';
import type { Log } from '../log.ts';

/**
 * Logs of the workers of this process by task queue, as a process has one runtime for all of them.
 */
const logs = new Map<string, Log>();

/** Lets the runtime's lines about a task queue go to the log of its worker. */
export function logTaskQueue(taskQueue: string, log: Log): void {
  logs.set(taskQueue, log);
}

/** Writes a line of the runtime: about a task queue to the log of its worker, else to `log`. */
export function logEntry(log: Log, { level, message, meta = {} }: LogEntry): void {
  // The other fields are internal to Temporal.
  const { taskQueue, workflowId, activityType, attempt, slice, error: err } = meta;
  const target = (typeof taskQueue === 'string' && logs.get(taskQueue)) || log;
  const write = level === 'ERROR' ? 'error' : 'warn';
  target[write]({ workflowId, activityType, attempt, slice, err }, message);
}
