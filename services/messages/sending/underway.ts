import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The messages that this process has claimed and not yet recorded. They belong to the process and not to the call
 * that began them: a call may end while a server still has a body to answer, or the database an outcome to take.
 */
export type Underway = {
  /** Those of the messages that nothing here holds; they are held from now on. */
  hold<Message extends { id: string }>(messages: readonly Message[]): Message[];
  /** They are in the record, or were never claimed. */
  release(ids: Iterable<string>): void;
  /** Whether so much waits to be recorded that nothing more may be started. */
  readonly isFull: boolean;
  /** Resolves once nothing is held, or after `maxMs`. */
  drained(maxMs: number): Promise<void>;
};

/** The pools have at most some hundred bodies in flight; more than this is a database that takes nothing. */
const heldMax = 10_000;
const lookEveryMs = 50;

export function createUnderway(): Underway {
  const held = new Set<string>();
  return {
    hold(messages) {
      const free = messages.filter(({ id }) => !held.has(id));
      for (const { id } of free) held.add(id);
      return free;
    },
    release(ids) {
      for (const id of ids) held.delete(id);
    },
    get isFull() {
      return held.size >= heldMax;
    },
    async drained(maxMs) {
      const untilMs = Date.now() + maxMs;
      while (held.size > 0 && Date.now() < untilMs) await sleep(lookEveryMs);
    },
  };
}
