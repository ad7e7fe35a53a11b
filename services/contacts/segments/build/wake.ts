import { addJob } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { SegmentKey } from '../segment.ts';
import { workflowIdOf } from './run.ts';

/**
 * Has the segment's run look at its row, or starts it. Commits with the change; a queued wake
 * replaces an earlier one.
 */
export async function addWake(
  em: EntityManager,
  { workspaceId, id }: SegmentKey,
  runAt?: Date,
): Promise<void> {
  const payload = { workspaceId, id };
  const key = workflowIdOf(payload);
  await addJob(em, 'contacts', { task: 'wake', payload, key, ...(runAt ? { runAt } : {}) });
}
