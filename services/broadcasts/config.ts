import { type Env, list, required } from '#lib/config.ts';
import type { TemporalServer } from './lifecycle/temporal.ts';

/** What broadcasts reads of the environment beside what every service does. */
export type Config = {
  /** Networks that feeds may be asked in although they are private. */
  egressAllow: string[];
  temporal: TemporalServer;
  /** Where the worker keeps the bundle of workflows. */
  cacheFolder: string;
};

export function readConfig(env: Env): Config {
  return {
    egressAllow: list(env, 'EGRESS_ALLOW'),
    temporal: {
      address: required(env, 'TEMPORAL_ADDRESS'),
      namespace: env.TEMPORAL_NAMESPACE ?? 'default',
    },
    cacheFolder: env.CACHE_FOLDER ?? '.postrider/cache',
  };
}
