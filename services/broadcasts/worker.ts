import { setTimeout as sleep } from 'node:timers/promises';
import {
  DefaultLogger,
  type LogEntry,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker';
import type { Log } from '#lib/log.ts';
import { openBase } from '#lib/process/run-service.ts';
import { onTermination } from '#lib/process/termination.ts';
import { connectTemporal } from '#lib/temporal/client.ts';
import { workflowBundle } from '#lib/temporal/workflow-bundle.ts';
import { createActivities } from './activities/all.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { taskQueue } from './lifecycle/run.ts';
import { registerSearchAttributes } from './lifecycle/search-attributes.ts';
import { removeOldWatch } from './lifecycle/temporal.ts';

const connectRetryMs = 1_000;
/** A slice is one activity, which mostly waits: slow tenants must not keep the others from their turn. */
const activitiesAtOnce = 1_000;

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

const config = readConfig(process.env, 'work');
const base = openBase(config);
// Node ends the process after this; the supervisor starts it again.
process.on('uncaughtExceptionMonitor', (error, origin) =>
  base.log.fatal({ err: error, origin }, 'an unhandled error ends the worker'),
);
Runtime.install({
  shutdownSignals: [],
  logger: new DefaultLogger('WARN', (entry) => base.log.warn(fieldsOf(entry), entry.message)),
});
const context = await openContext(base, config);
const { address, namespace } = config.temporal;
const [connection, bundle] = await Promise.all([
  connect(address, base.log),
  workflowBundle('broadcasts', config.cacheFolder),
]);
const temporal = connectTemporal(config.temporal);
await registerSearchAttributes(temporal, base.log);
await removeOldWatch(temporal, base.log);
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue,
  workflowBundle: bundle,
  activities: createActivities(context),
  maxConcurrentActivityTaskExecutions: activitiesAtOnce,
  shutdownGraceTime: '5 seconds',
});
const running = worker.run();
base.log.info('ready');
process.send?.('ready');
onTermination(base.log, async () => {
  worker.shutdown();
  await running;
  await connection.close();
  await temporal.connection.close();
  await context.egress.close();
  await context.store.close();
});
await running;
