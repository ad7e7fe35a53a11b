import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readBuildId, readTemporal, type TemporalServer } from '#lib/temporal/config.ts';

type Own = {
  temporal: TemporalServer;
  /** The version of the worker for Temporal; empty for none. */
  buildId: string;
  /** Folder in which the worker keeps the bundle of workflows. */
  cacheFolder: string;
};

export type Config = ServiceConfig & Own;

/** For the service and for its worker of workflows. */
export const readConfig = configReader<Own>(
  { name: 'contacts', peers: ['messages', 'templates', 'workspaces'] },
  (variables) => ({
    temporal: readTemporal(variables),
    buildId: readBuildId(variables),
    cacheFolder: variables.text('CACHE_FOLDER', '.postrider/cache'),
  }),
);
