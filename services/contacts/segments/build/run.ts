import type { Workflow } from '#lib/temporal/signal-run.ts';
import type { SegmentKey } from '../segment.ts';

/** The workflow in `workflows/contacts/workflow.ts`. On the signal a run reads its row. */
export const workflow = {
  type: 'segmentBuild',
  taskQueue: 'contacts',
  signal: 'changed',
  attributes: { WorkspaceId: 'Keyword' },
} as const satisfies Workflow;

export function workflowIdOf({ workspaceId, id }: SegmentKey): string {
  return `segment/${workspaceId}/${id}`;
}
