import { setTimeout as sleep } from 'node:timers/promises';

const pollEveryMs = 50;

/** Waits for a condition; the error names it. */
export async function until(
  what: string,
  condition: () => Promise<boolean>,
  { withinMs = 60_000 } = {},
): Promise<void> {
  const giveUpAtMs = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > giveUpAtMs)
      throw new Error(`waited ${withinMs} ms without success until ${what}`);
    await sleep(pollEveryMs);
  }
}
