import { workerPart } from '#lib/temporal/run-worker.ts';
import { createActivities } from './activities/all.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { workflow } from './lifecycle/run.ts';

/** Delivering the retries of an endpoint is one activity. */
const activitiesAtOnce = 1_000;

export const part = workerPart(readConfig, async (base, config) => {
  const context = await openContext(base, config);
  return {
    store: context.store,
    workflow,
    activities: createActivities(context),
    activitiesAtOnce,
    async close() {
      await context.recorder.flush();
      await context.egress.close();
      await context.store.close();
    },
  };
});
