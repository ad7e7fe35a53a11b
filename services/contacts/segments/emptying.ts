import { addJob, bulkPriority } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { SegmentKey } from './segment.ts';

/**
 * Has the memberships of a deleted segment ended, behind the jobs of others; commits with the
 * change.
 */
export async function addEmptying(
  em: EntityManager,
  { workspaceId, id }: SegmentKey,
): Promise<void> {
  const payload = { workspaceId, id };
  await addJob(em, 'contacts', { task: 'emptySegment', payload, priority: bulkPriority });
}
