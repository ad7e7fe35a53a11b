import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readWorkflows, type WorkflowConfig } from '#lib/temporal/config.ts';

export type Config = ServiceConfig & WorkflowConfig;

/** For the service and for its worker of workflows. */
export const readConfig = configReader<WorkflowConfig>(
  { name: 'contacts', peers: ['messages', 'templates', 'workspaces'] },
  readWorkflows,
);
