import { type EgressSettings, readEgress } from '#lib/outside/config.ts';
import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readBuildId, readTemporal, type TemporalServer } from '#lib/temporal/config.ts';
import type { BacklogLimits } from './backlog/limits.ts';

type Own = {
  egress: EgressSettings;
  backlog: BacklogLimits;
  temporal: TemporalServer;
  /** The version of the worker for Temporal; empty for none. */
  buildId: string;
  /** Folder in which the worker keeps the bundle of workflows. */
  cacheFolder: string;
};

export type Config = ServiceConfig & Own;

const pendingMax = 100_000;
const workspacePendingMax = 500_000;
const workspaceKeptMax = 10_000_000;
const limit = { from: 100, to: 1_000_000_000 };

/** For the service and for its worker of workflows. */
export const readConfig = configReader<Own>(
  { name: 'webhooks', peers: ['contacts', 'messages', 'workspaces'] },
  (variables) => ({
    egress: readEgress(variables),
    backlog: {
      pendingOfSubscription: variables.integer('WEBHOOKS_PENDING_MAX', pendingMax, limit),
      pendingOfWorkspace: variables.integer(
        'WEBHOOKS_WORKSPACE_PENDING_MAX',
        workspacePendingMax,
        limit,
      ),
      keptOfWorkspace: variables.integer('WEBHOOKS_WORKSPACE_KEPT_MAX', workspaceKeptMax, limit),
    },
    temporal: readTemporal(variables),
    buildId: readBuildId(variables),
    cacheFolder: variables.text('CACHE_FOLDER', '.postrider/cache'),
  }),
);
