import { type EgressSettings, readEgress } from '#lib/outside/config.ts';
import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readWorkflows, type WorkflowConfig } from '#lib/temporal/config.ts';

type Own = WorkflowConfig & {
  egress: EgressSettings;
  /** The gateway as people reach it, for links to pages of broadcasts; empty for no such links. */
  publicUrl: string;
};

export type Config = ServiceConfig & Own;

/** For the service and for its worker of workflows. */
export const readConfig = configReader<Own>(
  { name: 'broadcasts', peers: ['contacts', 'messages', 'templates', 'workspaces'] },
  (variables) => ({
    egress: readEgress(variables),
    publicUrl: variables.text('PUBLIC_URL', {
      fallback: '',
      unset: 'no such links',
      about: 'The gateway as people reach it: the base of links to the pages of broadcasts.',
    }),
    ...readWorkflows(variables),
  }),
);
