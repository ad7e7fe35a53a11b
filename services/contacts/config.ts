import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readTemporal, type TemporalServer } from '#lib/temporal/config.ts';

type Own = {
  temporal: TemporalServer;
  /** Folder in which the worker keeps the bundle of workflows. */
  cacheFolder: string;
};

export type Config = ServiceConfig & Own;

/** For the service and for its worker of workflows. */
export const readConfig = configReader<Own>(
  {
    name: 'contacts',
    peers: ['messages', 'templates', 'workspaces'],
    optionalPeers: ['webhooks'],
  },
  (variables) => ({
    temporal: readTemporal(variables),
    cacheFolder: variables.text('CACHE_FOLDER', '.postrider/cache'),
  }),
);
