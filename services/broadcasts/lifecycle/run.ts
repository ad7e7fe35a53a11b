import type { BroadcastKey } from '../broadcast.ts';

export const taskQueue = 'broadcasts';

/** The workflow in `workflows/broadcasts/workflow.ts`, by the name it has in Temporal. */
export const workflowType = 'broadcastLifecycle';

/** The signal on which a run reads its row. */
export const changedSignal = 'changed';

/** The input of a run: its broadcast, and the search attributes that the server has. */
export type RunInput = [key: BroadcastKey, attributes: string[]];

export function workflowIdOf({ workspaceId, id }: BroadcastKey): string {
  return `broadcast/${workspaceId}/${id}`;
}
