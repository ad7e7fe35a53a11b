import { bulkWorkMaxMs } from '#lib/jobs/jobs.ts';
import type { Context } from '../context.ts';
import {
  addErasure,
  deleteAbout,
  deleteStray,
  type Erasure,
  hasPending,
} from '../erasing/erase.ts';

const stepSize = 1_000;
const hourMs = 60 * 60 * 1_000;
const pbulkWorkMaxMs = 24 * hourMs;
/** What happened before the deletion may come this much later, from a service that was away. */
const lateMaxMs = 7 * 24 * hourMs;

/**
 * Deletes the deliveries about what happened to a deleted contact until then, in steps: at once
 * those that are done, and every hour what is done by then, so that endpoints still learn what
 * happened, the deletion above all. After a day those that were never taken go, too. It looks
 * again, less and less often, for events that come late.
 */
export function erasePerson(
  { store, now }: Pick<Context, 'store' | 'now'>,
  workMaxMs = bulkWorkMaxMs,
) {
  return async (payload: unknown): Promise<void> => {
    const erasure = payload as Erasure;
    const ageMs = now().getTime() - erasure.sinceMs;
    const part = { ...erasure, all: ageMs >= pbulkWorkMaxMs };
    const em = store.fork();
    const endsAtMs = Date.now() + workMaxMs;
    while ((await deleteAbout(em, part, stepSize)) === stepSize) {
      if (Date.now() >= endsAtMs) return addErasure(em, erasure, 0);
    }
    await deleteStray(em, erasure);
    if (await hasPending(em, erasure)) await addErasure(em, erasure, hourMs);
    else if (ageMs < lateMaxMs) await addErasure(em, erasure, Math.max(hourMs, ageMs / 2));
  };
}
