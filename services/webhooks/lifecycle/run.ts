import type { Workflow } from '#lib/temporal/signal-run.ts';
import type { SubscriptionKey } from '../subscription.ts';

/** The workflow in `workflows/webhooks/workflow.ts`. On the signal a run reads its row. */
export const workflow = {
  type: 'webhookRetries',
  taskQueue: 'webhooks',
  signal: 'changed',
  attributes: { WorkspaceId: 'Keyword', WebhookCircuit: 'Keyword' },
} as const satisfies Workflow;

export function workflowIdOf({ workspaceId, id }: SubscriptionKey): string {
  return `webhook/${workspaceId}/${id}`;
}
