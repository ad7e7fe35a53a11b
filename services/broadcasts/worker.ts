import { workerPart } from '#lib/temporal/run-worker.ts';
import { createActivities } from './activities/all.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { workflow } from './lifecycle/run.ts';
import { removeOldWatch } from './lifecycle/temporal.ts';

/** A slice is one activity. */
const activitiesAtOnce = 1_000;

export const part = workerPart(readConfig, async (base, config) => {
  const context = await openContext(base, config);
  return {
    store: context.store,
    workflow,
    activities: createActivities(context),
    activitiesAtOnce,
    prepare: (temporal) => removeOldWatch(temporal, base.log),
    async close() {
      await context.egress.close();
      await context.store.close();
    },
  };
});
