import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 50;

/** Waits for a condition; the error names it. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  { withinMs = 60_000 } = {},
): Promise<void> {
  const giveUpAtMs = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > giveUpAtMs) throw new Error(`waited ${withinMs} ms in vain until ${what}`);
    await sleep(lookEveryMs);
  }
}
