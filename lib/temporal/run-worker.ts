import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { readEnv } from '../config.ts';
import type { Variables } from '../env.ts';
import { createLog, type Log } from '../log.ts';
import type { Store } from '../postgres/store.ts';
import type { Role, ServiceConfig } from '../process/config.ts';
import type { ProcessPart, Readiness, RunningProcess } from '../process/part.ts';
import { type Base, databaseReadiness, openBase } from '../process/run-service.ts';
import { connectTemporal } from './client.ts';
import type { TemporalServer } from './config.ts';
import { temporalReadiness } from './readiness.ts';
import { logEntry, logTaskQueue } from './runtime-log.ts';
import { registerSearchAttributes } from './search-attributes.ts';
import type { Workflow } from './signal-run.ts';
import { tracedWorker } from './traced.ts';
import { workerMetrics } from './worker-metrics.ts';
import { workflowBundle } from './workflow-bundle.ts';

const connectRetryMs = 1_000;

export type WorkerOptions = {
  store: Store;
  workflow: Workflow;
  activities: object;
  /** Activities mostly wait: slow tenants must not keep the others from their turn. */
  activitiesAtOnce: number;
  /** Called before the first task. */
  prepare?(temporal: Client): Promise<void>;
  close(): Promise<void>;
};

type WorkerConfig = ServiceConfig & {
  temporal: TemporalServer;
  buildId: string;
  cacheFolder: string;
};

/**
 * The workflows and activities of one service as part of a process. Its workflows are in the folder
 * of the task queue's name.
 */
export function workerPart<Config extends WorkerConfig>(
  readConfig: (variables: Variables, role: Role) => Config,
  open: (base: Base, config: Config) => Promise<WorkerOptions>,
): ProcessPart {
  return {
    configure(env) {
      const config = readEnv(env, (variables) => readConfig(variables, 'work'));
      return async () => {
        const base = openBase(config);
        return start(base.log, config, await open(base, config));
      };
    },
  };
}

async function start(
  log: Log,
  config: WorkerConfig,
  options: WorkerOptions,
): Promise<RunningProcess> {
  const { workflow } = options;
  logTaskQueue(workflow.taskQueue, log);
  await installRuntime(config);
  const [connection, bundle] = await Promise.all([
    connect(config.temporal, log),
    workflowBundle(workflow.taskQueue, config.cacheFolder),
  ]);
  const temporal = connectTemporal(config.temporal);
  await registerSearchAttributes(temporal, workflow.attributes, log);
  await options.prepare?.(temporal);
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    taskQueue: workflow.taskQueue,
    workflowBundle: bundle,
    ...versionOf(config, workflow),
    ...(await tracedWorker()),
    activities: options.activities,
    maxConcurrentActivityTaskExecutions: options.activitiesAtOnce,
    shutdownGraceTime: '5 seconds',
  });
  const running = worker.run();
  // A worker that fails ends the process, and is started again.
  running.catch((error: unknown) => {
    throw error;
  });
  log.info('ready');
  return {
    log,
    readiness: () => workerReadiness(options, temporal),
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
      await temporal.connection.close();
      await options.close();
    },
  };
}

/**
 * Runs move to the current build with their next task: they follow from rows, and all builds replay
 * each other's histories.
 */
function versionOf({ buildId }: WorkerConfig, { taskQueue }: Workflow) {
  if (buildId === '') return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: `postrider-${taskQueue}`, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    } as const,
  };
}

let installed: Promise<void> | undefined;

/** A process has one runtime for all its workers. */
function installRuntime(config: ServiceConfig): Promise<void> {
  installed ??= install(config);
  return installed;
}

async function install({ telemetry, logLevel, logFormat }: ServiceConfig): Promise<void> {
  const log = createLog('temporal', logLevel, logFormat);
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: await workerMetrics(telemetry),
    logger: new DefaultLogger('WARN', (entry) => logEntry(log, entry)),
  });
}

async function connect(server: TemporalServer, log: Log): Promise<NativeConnection> {
  const { namespace: _, ...options } = server;
  for (;;) {
    try {
      return await NativeConnection.connect(options);
    } catch (error) {
      log.warn({ err: error }, 'Temporal is not reachable; trying again');
      await sleep(connectRetryMs);
    }
  }
}

async function workerReadiness(
  { store, workflow }: WorkerOptions,
  temporal: Client,
): Promise<Readiness> {
  const [database, server] = await Promise.all([
    databaseReadiness(store),
    temporalReadiness(temporal, workflow.attributes),
  ]);
  return {
    missing: [...database.missing, ...server.missing],
    warnings: [...database.warnings, ...server.warnings],
  };
}
