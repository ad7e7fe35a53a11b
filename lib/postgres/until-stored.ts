import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';

const waitsMs = [50, 100, 250, 500, 1_000];
const waitMaxMs = 2_000;

/** SQLSTATE classes for faults of the values: data, integrity, limits. */
const valueClasses = new Set(['22', '23', '54']);

/** Whether the database will never take these values, however often it is asked. */
export function isAboutValues(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return true;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.length === 5 && valueClasses.has(code.slice(0, 2));
}

/**
 * Repeats a write until the database has taken it: connections come back, locks and deadlocks pass.
 * Throws only final errors: those about the values, unless the caller has no other values to try.
 */
export async function untilStored<T>(
  log: Log,
  what: string,
  write: () => Promise<T>,
  isFinal: (error: unknown) => boolean = isAboutValues,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (isFinal(error)) throw error;
      // At the beginning of an outage and then about every minute, instead of thousands of times.
      if (attempt % 30 === 0) log.warn({ err: error, attempt }, `${what} could not be stored yet`);
      await sleep(waitsMs[attempt] ?? waitMaxMs);
    }
  }
}
