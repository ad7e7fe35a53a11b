import type { Store } from '#lib/postgres/store.ts';
import { type Deletions, forget } from '../record/forget.ts';

/**
 * Forgets messages to deleted contacts that the pass before has left, or that were written after
 * it.
 */
export function forgetContacts(store: Store) {
  return (payload: unknown): Promise<void> =>
    store.fork().transactional((em) => forget(em, payload as Deletions));
}
