import { type EgressSettings, readEgress } from '#lib/outside/config.ts';
import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readBuildId, readTemporal, type TemporalServer } from '#lib/temporal/config.ts';

type Own = {
  egress: EgressSettings;
  /** The gateway as people reach it, for links to pages of broadcasts; empty for no such links. */
  publicUrl: string;
  temporal: TemporalServer;
  /** The version of the worker for Temporal; empty for none. */
  buildId: string;
  /** Folder in which the worker keeps the bundle of workflows. */
  cacheFolder: string;
};

export type Config = ServiceConfig & Own;

/** For the service and for its worker of workflows. */
export const readConfig = configReader<Own>(
  { name: 'broadcasts', peers: ['contacts', 'messages', 'templates', 'workspaces'] },
  (variables) => ({
    egress: readEgress(variables),
    publicUrl: variables.text('PUBLIC_URL', ''),
    temporal: readTemporal(variables),
    buildId: readBuildId(variables),
    cacheFolder: variables.text('CACHE_FOLDER', '.postrider/cache'),
  }),
);
