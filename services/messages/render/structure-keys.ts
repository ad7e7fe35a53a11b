/*
 * The keys by which structures are kept.
 *
 * The key of a way leads to the structure, or to the values on which the structure depends; these
 * lengthen the key, up to twice: by values that MJML sees, and by those of links.
 */
import type { Marked } from '#lib/mail/marker.ts';
import { type Deciding, decisionOf } from '#lib/mail/structural.ts';

/** An entry under a key. */
export type Kept<Structure> = { structure: Structure } | { deciding: readonly Deciding[] };

type Values = Marked['values'];

/** Follows a mail's values to the last key that is known, and to the structure if it is there. */
export function lookUp<Structure>(
  way: string,
  values: Values,
  get: (key: string) => Kept<Structure> | undefined,
): { key: string; structure?: Structure } {
  let key = way;
  for (let found = get(key); found; found = get(key)) {
    if ('structure' in found) return { key, structure: found.structure };
    key = keyBehind(key, found.deciding, values);
  }
  return { key };
}

/** The entries by which `lookUp` finds a structure, in the order of their keys. */
export function entriesOf<Structure>(
  way: string,
  values: Values,
  { structure, deciding }: { structure: Structure; deciding: readonly Deciding[][] },
): [key: string, kept: Kept<Structure>][] {
  let key = way;
  const entries = deciding.map((each): [string, Kept<Structure>] => {
    const entry: [string, Kept<Structure>] = [key, { deciding: each }];
    key = keyBehind(key, each, values);
    return entry;
  });
  return [...entries, [key, { structure }]];
}

function keyBehind(key: string, deciding: readonly Deciding[], values: Values): string {
  return `${key}\0${decisionOf(deciding, values)}`;
}
