import type { Store } from '#lib/postgres/store.ts';
import { type Deletions, forget } from '../record/forget.ts';

/**
 * Forgets deleted contacts a second time: messages to them may have been written after the first.
 */
export function forgetContacts(store: Store) {
  return (payload: unknown): Promise<void> =>
    store.fork().transactional((em) => forget(em, payload as Deletions));
}
