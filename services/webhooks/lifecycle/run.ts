import type { SubscriptionKey } from '../subscription.ts';

export const taskQueue = 'webhooks';

/** The workflow in `workflows/webhooks/workflow.ts`, by the name it has in Temporal. */
export const workflowType = 'webhookRetries';

/** The signal on which a run reads its row. */
export const changedSignal = 'changed';

/** The input of a run: its subscription, and the search attributes that the server has. */
export type RunInput = [key: SubscriptionKey, attributes: string[]];

export function workflowIdOf({ workspaceId, id }: SubscriptionKey): string {
  return `webhook/${workspaceId}/${id}`;
}
