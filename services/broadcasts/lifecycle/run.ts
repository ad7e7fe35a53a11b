import type { Workflow } from '#lib/temporal/signal-run.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';

/** The workflow in `workflows/broadcasts/workflow.ts`. On the signal a run reads its row. */
export const workflow = {
  type: 'broadcastLifecycle',
  taskQueue: 'broadcasts',
  signal: 'changed',
  attributes: { WorkspaceId: 'Keyword', BroadcastStatus: 'Keyword', RecipientCount: 'Int' },
} as const satisfies Workflow;

export function workflowIdOf({ workspaceId, id }: BroadcastKey): string {
  return `broadcast/${workspaceId}/${id}`;
}
