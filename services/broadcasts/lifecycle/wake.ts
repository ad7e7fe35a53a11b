import { addJob } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import { workflowIdOf } from './run.ts';

export type BroadcastWake = { key: BroadcastKey; name: string };

/**
 * Has the broadcast's run read its row again. Commits with the change, so wakes are neither lost
 * nor needless.
 */
export async function wake(em: EntityManager, broadcast: Broadcast): Promise<void> {
  const key = { workspaceId: broadcast.workspace_id, id: broadcast.id };
  await addWake(em, { key, name: broadcast.name });
}

/** A queued wake replaces an earlier one of the same broadcast. */
export async function addWake(
  em: EntityManager,
  payload: BroadcastWake,
  runAt?: Date,
): Promise<void> {
  const key = workflowIdOf(payload.key);
  await addJob(em, 'broadcasts', { task: 'wake', payload, key, ...(runAt ? { runAt } : {}) });
}
