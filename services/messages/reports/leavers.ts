import { addJob, bulkPriority } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/** The message through which a person left at the provider, and when, in RFC 3339. */
export type Leaver = { id: string; at: string };

export type Leavers = { workspaceId: string; left: readonly Leaver[] };

/** Has a job unsubscribe those who left: memberships are those of contacts. */
export async function addLeaving(em: EntityManager, payload: Leavers): Promise<void> {
  if (payload.left.length === 0) return;
  await addJob(em, 'messages', { task: 'unsubscribeLeavers', payload, priority: bulkPriority });
}
