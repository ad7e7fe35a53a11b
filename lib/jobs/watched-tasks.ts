import type { Task, TaskList } from 'graphile-worker';
import { secondsSince } from '#lib/telemetry/calls.ts';
import { seconds } from '#lib/telemetry/metrics.ts';
import { inSpan, type SpanOptions, traceparentIn } from '#lib/telemetry/tracing.ts';

const durations = seconds(
  'postrider_job_duration_seconds',
  'Runs of a task, by how long they took and whether they succeeded.',
  ['task', 'result'],
);

/** The same tasks, each `watched`. */
export function watchedTasks(tasks: TaskList): TaskList {
  const each = Object.entries(tasks).map(([name, task]) => [name, watched(name, task as Task)]);
  return Object.fromEntries(each);
}

/** Scheduled jobs belong to no trace. */
function spanOf(name: string, payload: unknown): SpanOptions {
  const traceparent =
    typeof payload === 'object' && payload !== null && 'traceparent' in payload
      ? traceparentIn(payload.traceparent)
      : undefined;
  const attributes = { 'messaging.operation.type': 'process', 'messaging.destination.name': name };
  return { kind: 'consumer', attributes, parent: traceparent, onlyInTrace: true };
}

/** The same task, measured, and as part of the trace that added the job. */
export function watched<Helpers, Result>(
  name: string,
  task: (payload: unknown, helpers: Helpers) => Result | PromiseLike<Result>,
): (payload: unknown, helpers: Helpers) => Promise<Result> {
  return async (payload, helpers) => {
    const startedAtMs = performance.now();
    let result = 'failure';
    try {
      const returned = await inSpan(`job ${name}`, spanOf(name, payload), async () =>
        task(payload, helpers),
      );
      result = 'success';
      return returned;
    } finally {
      durations.observe({ task: name, result }, secondsSince(startedAtMs));
    }
  };
}
