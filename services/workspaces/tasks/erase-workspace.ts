import type { Log } from '#lib/log.ts';
import type { Context } from '../context.ts';
import { addErasing, endDeletion, findDeletion, keepServicesLeft } from '../deletion/deletions.ts';
import { eraseEverywhere } from '../deletion/erase.ts';

/** What a call writes that began before the deletion is erased as well: a call lasts at most 10 minutes. */
const lateMs = 11 * 60_000;
const againMs = 1_000;

/** One round of erasing a deleted workspace. Adds the job of the next one until nothing is left, and nothing can come any more. */
export function eraseWorkspace(context: Context, { log }: { log: Pick<Log, 'info' | 'warn'> }) {
  const { store, now, dataServices } = context;
  return async (payload: unknown): Promise<void> => {
    const { id } = payload as { id: string };
    const deletion = await findDeletion(store.fork(), id);
    if (!deletion || deletion.erased_at) return;
    const lateUntilMs = new Date(deletion.deleted_at).getTime() + lateMs;
    const isLast = now().getTime() >= lateUntilMs;
    const left = await eraseEverywhere({ store, dataServices, log }, id);
    const isOver = isLast && left.length === 0;
    await store.fork().transactional(async (em) => {
      if (isOver) return endDeletion(em, id, now());
      await keepServicesLeft(em, id, left);
      const soon = new Date(Date.now() + againMs);
      await addErasing(em, id, left.length > 0 ? soon : new Date(lateUntilMs));
    });
    if (isOver) log.info({ workspaceId: id, userId: deletion.deleted_by }, 'workspace erased');
  };
}
