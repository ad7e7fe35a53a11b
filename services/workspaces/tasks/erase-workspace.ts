import type { Log } from '#lib/log.ts';
import type { Context } from '../context.ts';
import { addErasing, endDeletion, findDeletion, keepServicesLeft } from '../deletion/deletions.ts';
import { eraseEverywhere } from '../deletion/erase.ts';

/**
 * Time after the deletion in which calls that began before it may still write: a call lasts at most
 * 10 minutes.
 */
const lateMs = 11 * 60_000;
const againMs = 1_000;

/**
 * One round of erasing a deleted workspace. Adds the job of the next one until nothing is left, and
 * nothing can come any more.
 */
export function eraseWorkspace(context: Context, { log }: { log: Pick<Log, 'info' | 'warn'> }) {
  const { store, now, dataServices } = context;
  return async (payload: unknown): Promise<void> => {
    const { id } = payload as { id: string };
    const readAtMs = Date.now();
    const deletion = await findDeletion(store.fork(), id);
    if (!deletion || deletion.erased_at) return;
    const deletedAtMs = new Date(deletion.deleted_at).getTime();
    const isLast = now().getTime() >= deletedAtMs + lateMs;
    const left = await eraseEverywhere({ store, dataServices, log }, { workspaceId: id, readAtMs });
    const isOver = isLast && left.length === 0;
    await store.fork().transactional(async (em) => {
      if (isOver) return endDeletion(em, { id, deletedAt: deletion.deleted_at, at: now() });
      await keepServicesLeft(em, id, left);
      await addErasing(em, id, nextRound(deletedAtMs, now().getTime(), left.length === 0));
    });
    if (isOver) log.info({ workspaceId: id, userId: deletion.deleted_by }, 'workspace erased');
  };
}

/** Rounds that find nothing are rarer and rarer: most late writes come within seconds. */
function nextRound(deletedAtMs: number, nowMs: number, isEmpty: boolean): Date {
  if (!isEmpty) return new Date(nowMs + againMs);
  const sinceMs = nowMs - deletedAtMs;
  return new Date(Math.min(nowMs + Math.max(againMs, sinceMs), deletedAtMs + lateMs));
}
