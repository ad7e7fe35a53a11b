import type { Variables } from '#lib/env.ts';
import { type EgressSettings, readEgress } from '#lib/outside/config.ts';
import { configReader, type ServiceConfig } from '#lib/process/config.ts';
import { readWorkflows, type WorkflowConfig } from '#lib/temporal/config.ts';
import type { ComplaintLimits } from './sending/complaints.ts';

type Own = WorkflowConfig & {
  egress: EgressSettings;
  /** The gateway as people reach it, for links to pages of broadcasts; empty for no such links. */
  publicUrl: string;
  complaints: ComplaintLimits;
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
    complaints: readComplaintLimits(variables),
    ...readWorkflows(variables),
  }),
);

/** The share of complaints at which an operator is warned, and at which broadcasts pause. */
export function readComplaintLimits(variables: Variables): ComplaintLimits {
  const range = { from: 0, to: 10_000 };
  const about =
    'among 10,000 mails from one domain, of the broadcasts that an integration began in the last seven days; 0 for never. It takes a thousand mails.';
  return {
    warned: variables.integer('COMPLAINTS_WARNED', {
      ...{ ...range, fallback: 10 },
      about: `Complaints at which \`postrider_complaints_high_total\` counts, ${about}`,
    }),
    paused: variables.integer('COMPLAINTS_PAUSED', {
      ...{ ...range, fallback: 30 },
      about: `Complaints at which broadcasts of the integration pause, ${about}`,
    }),
  };
}
