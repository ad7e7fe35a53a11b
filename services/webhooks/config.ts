import { type EgressSettings, readEgress } from '#lib/outside/config.ts';
import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readBuildId, readTemporal, type TemporalServer } from '#lib/temporal/config.ts';

type Own = {
  egress: EgressSettings;
  /** Deliveries of a subscription. */
  pendingMax: number;
  temporal: TemporalServer;
  /** The version of the worker for Temporal; empty for none. */
  buildId: string;
  /** Folder in which the worker keeps the bundle of workflows. */
  cacheFolder: string;
};

export type Config = ServiceConfig & Own;

const pendingMax = 100_000;
const limit = { from: 100, to: 1_000_000_000 };

/** For the service and for its worker of workflows. */
export const readConfig = configReader<Own>(
  { name: 'webhooks', peers: ['contacts', 'messages', 'workspaces'] },
  (variables) => ({
    egress: readEgress(variables),
    pendingMax: variables.integer('WEBHOOKS_PENDING_MAX', pendingMax, limit),
    temporal: readTemporal(variables),
    buildId: readBuildId(variables),
    cacheFolder: variables.text('CACHE_FOLDER', '.postrider/cache'),
  }),
);
