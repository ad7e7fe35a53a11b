import { type EgressSettings, readEgress } from '#lib/outside/config.ts';
import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readWorkflows, type WorkflowConfig } from '#lib/temporal/config.ts';

type Own = WorkflowConfig & {
  egress: EgressSettings;
  /** Deliveries of a subscription. */
  pendingMax: number;
};

export type Config = ServiceConfig & Own;

/** Of a subscription, if nothing else is set. */
const pendingMax = 100_000;

/** For the service and for its worker of workflows. */
export const readConfig = configReader<Own>(
  { name: 'webhooks', peers: ['contacts', 'messages', 'workspaces'] },
  (variables) => ({
    egress: readEgress(variables),
    pendingMax: variables.integer('WEBHOOKS_PENDING_MAX', {
      fallback: pendingMax,
      from: 100,
      to: 1_000_000_000,
      about: 'Pending deliveries of a subscription. Beyond it the oldest become `failed`.',
    }),
    ...readWorkflows(variables),
  }),
);
