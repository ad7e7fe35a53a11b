import type { Context } from '../context.ts';
import { addErasure, deleteDeliveries, type Erasure, hasPending } from '../person/erase.ts';

const stepSize = 1_000;
const hourMs = 60 * 60 * 1_000;
/** What happened before the deletion may be told this much later. */
const lateMs = 10 * 60 * 1_000;
const pendingMaxMs = 24 * hourMs;

/**
 * Deletes the deliveries about a deleted contact, in steps: at once those that are done, and every hour what is done by then, so that
 * endpoints still learn what happened, the deletion above all. After a day those that were never taken go, too.
 */
export function erasePerson({ store, now }: Pick<Context, 'store' | 'now'>) {
  return async (payload: unknown): Promise<void> => {
    const erasure = payload as Erasure;
    const ageMs = now().getTime() - erasure.sinceMs;
    const until = new Date(erasure.sinceMs + lateMs);
    const part = { ...erasure, until, all: ageMs >= pendingMaxMs };
    const em = store.fork();
    let count = stepSize;
    while (count === stepSize) count = await deleteDeliveries(em, part, stepSize);
    if (ageMs < lateMs || (await hasPending(em, part))) await addErasure(em, erasure, hourMs);
  };
}
