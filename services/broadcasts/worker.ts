import { settingsOrExit } from '#lib/config.ts';
import { openBase } from '#lib/process/run-service.ts';
import { startTracing } from '#lib/telemetry/start-tracing.ts';
import { runWorker } from '#lib/temporal/run-worker.ts';
import { createActivities } from './activities/all.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { workflow } from './lifecycle/run.ts';
import { removeOldWatch } from './lifecycle/temporal.ts';

/** A slice is one activity. */
const activitiesAtOnce = 1_000;

const config = settingsOrExit(() => readConfig(process.env, 'work'));
await startTracing(`${config.name}-worker`, config.telemetry);
const base = openBase(config);
const context = await openContext(base, config);
await runWorker({
  ...config,
  log: base.log,
  workflow,
  activities: createActivities(context),
  activitiesAtOnce,
  prepare: (temporal) => removeOldWatch(temporal, base.log),
  async close() {
    await context.egress.close();
    await context.store.close();
  },
});
