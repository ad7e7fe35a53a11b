import { settingsOrExit } from '#lib/config.ts';
import { openBase } from '#lib/process/run-service.ts';
import { startTracing } from '#lib/telemetry/start-tracing.ts';
import { runWorker } from '#lib/temporal/run-worker.ts';
import { createActivities } from './activities/all.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { workflow } from './segments/build/run.ts';

/** A page of a build keeps PostgreSQL busy, so more at once would only slow each other down. */
const activitiesAtOnce = 4;

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
  close: () => context.store.close(),
});
