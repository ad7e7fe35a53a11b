import type { JobHelpers } from 'graphile-worker';

/** Of a job that runs for the first time. */
export const firstTry = { job: { attempts: 1 } } as JobHelpers;
