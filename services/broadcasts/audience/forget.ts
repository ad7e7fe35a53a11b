import { addJob } from '#lib/jobs/jobs.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import { isOver } from '../broadcast/row.ts';

/**
 * Deletes the addresses of a finished broadcast by a job. Its counts stay, and messages has what
 * was sent.
 */
export async function forgetIfOver(em: EntityManager, broadcast: Broadcast): Promise<void> {
  if (!isOver(broadcast.status)) return;
  await addForget(em, { workspaceId: broadcast.workspace_id, id: broadcast.id });
}

export async function addForget(
  em: EntityManager,
  payload: BroadcastKey,
  runAt?: Date,
): Promise<void> {
  const job = { task: 'forgetRecipients', payload, ...(runAt ? { runAt } : {}) };
  await addJob(em, 'broadcasts', job);
}
