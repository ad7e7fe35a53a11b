import { type Env, list, required } from '#lib/config.ts';
import type { TemporalServer } from './lifecycle/temporal.ts';

/** The environment variables of broadcasts, beside those of every service. */
export type Config = {
  /** Private networks that feeds may be in. */
  egressAllow: string[];
  temporal: TemporalServer;
  /** Folder of the bundled workflows. */
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
