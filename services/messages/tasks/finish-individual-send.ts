import type { Store } from '#lib/postgres/store.ts';
import {
  finishSend,
  isSending,
  type MessageKey,
  scheduleFinish,
} from '../record/individual-sends.ts';

/** The job `endByHand`: ends the record of an individual send whose call left it open. */
export function finishIndividualSend(store: Store) {
  return async (payload: unknown): Promise<void> => {
    const key = payload as MessageKey;
    await finishSend(store, key);
    // Another process still waits for the server's answer.
    if (await isSending(store, key)) await scheduleFinish(store, key);
  };
}
