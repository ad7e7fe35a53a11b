import { withoutAddresses } from '#lib/log.ts';

/** A reply may have 400 KB; code, reason and delay are in its first lines. */
const readMax = 2_000;

/**
 * Words of a mail server or a provider as they are recorded: one line without addresses, of at most
 * `lengthMax` characters.
 */
export function oneLine(text: string, lengthMax: number): string {
  return withoutAddresses(beginningOf(text))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, lengthMax);
}

/** Ends with a whole word, since half an address does not look like one. */
export function beginningOf(text: string): string {
  if (text.length <= readMax) return text;
  const start = text.slice(0, readMax);
  return start.slice(0, Math.max(start.lastIndexOf(' '), start.lastIndexOf('\n'), 0));
}
