import type { Store } from '#lib/postgres/store.ts';
import { endOne, ensureEnd, isSending, type MessageKey } from '../record/individual-sends.ts';

/** The job `endByHand`, which runs when the call that sent a message is over. */
export function finishIndividualSend(store: Store) {
  return async (payload: unknown): Promise<void> => {
    const key = payload as MessageKey;
    await endOne(store, key);
    // Its server has not answered yet, and its sender still waits.
    if (await isSending(store, key)) await ensureEnd(store, key);
  };
}
