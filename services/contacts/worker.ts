import { workerPart } from '#lib/temporal/run-worker.ts';
import { createActivities } from './activities/all.ts';
import { readConfig } from './config.ts';
import { openContext } from './context.ts';
import { workflow } from './segments/build/run.ts';

/** A page of a build keeps PostgreSQL busy, so more at once would only slow each other down. */
const activitiesAtOnce = 4;

export const part = workerPart(readConfig, async (base, config) => {
  const context = await openContext(base, config);
  return {
    store: context.store,
    workflow,
    activities: createActivities(context),
    activitiesAtOnce,
    close: () => context.store.close(),
  };
});
