import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import {
  DefaultLogger,
  type LogEntry,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import type { TelemetryConfig } from '#lib/telemetry/config.ts';
import { serveMetrics } from '#lib/telemetry/serve-metrics.ts';
import { stopTracing } from '#lib/telemetry/start-tracing.ts';
import type { Log } from '../log.ts';
import { onTermination } from '../process/termination.ts';
import { connectTemporal, type TemporalServer } from './client.ts';
import { registerSearchAttributes } from './search-attributes.ts';
import type { Workflow } from './signal-run.ts';
import { tracedWorker } from './traced.ts';
import { workerMetrics } from './worker-metrics.ts';
import { workflowBundle } from './workflow-bundle.ts';

const connectRetryMs = 1_000;

export type WorkerOptions = {
  log: Log;
  telemetry: TelemetryConfig;
  temporal: TemporalServer;
  /** Folder in which the bundle of workflows is kept. */
  cacheFolder: string;
  workflow: Workflow;
  activities: object;
  /** Activities mostly wait: slow tenants must not keep the others from their turn. */
  activitiesAtOnce: number;
  /** Called before the first task. */
  prepare?(temporal: Client): Promise<void>;
  close(): Promise<void>;
};

/** Runs the workflows and activities of one service as a process, until SIGTERM. Its workflows are in the folder of the task queue's name. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { log, workflow } = options;
  // Node ends the process after this; the supervisor starts it again.
  process.on('uncaughtExceptionMonitor', (error, origin) =>
    log.fatal({ err: error, origin }, 'an unhandled error ends the worker'),
  );
  serveMetrics(options.telemetry, log);
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: await workerMetrics(options.telemetry),
    logger: new DefaultLogger('WARN', (entry) => log.warn(fieldsOf(entry), entry.message)),
  });
  const [connection, bundle] = await Promise.all([
    connect(options.temporal.address, log),
    workflowBundle(workflow.taskQueue, options.cacheFolder),
  ]);
  const temporal = connectTemporal(options.temporal);
  await registerSearchAttributes(temporal, workflow.attributes, log);
  await options.prepare?.(temporal);
  const worker = await Worker.create({
    connection,
    namespace: options.temporal.namespace,
    taskQueue: workflow.taskQueue,
    workflowBundle: bundle,
    ...(await tracedWorker()),
    activities: options.activities,
    maxConcurrentActivityTaskExecutions: options.activitiesAtOnce,
    shutdownGraceTime: '5 seconds',
  });
  const running = worker.run();
  log.info('ready');
  process.send?.('ready');
  onTermination(log, async () => {
    worker.shutdown();
    await running;
    await connection.close();
    await temporal.connection.close();
    await options.close();
    await stopTracing(options.telemetry);
  });
  await running;
}

async function connect(address: string, log: Log): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect({ address });
    } catch (error) {
      log.warn({ err: error }, 'Temporal is not reachable; trying again');
      await sleep(connectRetryMs);
    }
  }
}

/** The fields of a Temporal warning that say what it is about; the others are internal to Temporal. */
function fieldsOf({ level, meta = {} }: LogEntry): object {
  const { workflowId, activityType, attempt, slice, error: err } = meta;
  return { level, workflowId, activityType, attempt, slice, err };
}
