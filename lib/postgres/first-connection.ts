import type { Store } from './store.ts';

const triesMax = 4;

/**
 * Resolves when the database answers. A connection that took too long is tried again: the machine
 * is busy while processes start. Every other fault is thrown at once.
 */
export async function firstConnection(store: Pick<Store, 'ping'>): Promise<void> {
  for (let left = triesMax - 1; ; left -= 1) {
    try {
      return await store.ping();
    } catch (error) {
      if (left === 0 || !(error instanceof Error) || !/connection timeout/.test(error.message)) {
        throw error;
      }
    }
  }
}
