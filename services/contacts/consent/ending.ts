import { addJob, bulkPriority } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/**
 * Has the memberships of a deleted list ended, behind the jobs of others; commits with the change.
 */
export async function addEnding(
  em: EntityManager,
  payload: { workspaceId: string; listId: string },
): Promise<void> {
  await addJob(em, 'contacts', { task: 'endMemberships', payload, priority: bulkPriority });
}
