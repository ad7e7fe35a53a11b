import { variables as groups } from '#gen/variables.ts';
import { serviceNames } from './parts.ts';

const prefixes = [...serviceNames, 'gateway'].map((name) => `${name.toUpperCase()}_`);
const suffixes = ['_DATABASE_URL', '_DATABASE_URL_FILE'];
/** Shorter names are too much alike. */
const lengthMin = 6;

/** Every name that a process of ours reads. */
function knownVariables(): string[] {
  return groups.flatMap(({ variables }) =>
    variables.flatMap(({ name, isSecret }) => {
      const names = name.startsWith('<NAME>')
        ? serviceNames.map((service) => name.replace('<NAME>', service.toUpperCase()))
        : [name];
      return isSecret ? names.flatMap((each) => [each, `${each}_FILE`]) : names;
    }),
  );
}

/**
 * Names that are meant for us by their look and that nothing reads, with the one that was probably
 * meant.
 */
export function unknownVariables(names: readonly string[]): string[] {
  const known = knownVariables();
  return unknownNames(names).flatMap((name) => {
    const meant = known.find((each) => isMisspelled(name, each));
    if (meant) return [`${name} (is it ${meant}?)`];
    const looksOurs =
      prefixes.some((prefix) => name.startsWith(prefix)) ||
      suffixes.some((suffix) => name.endsWith(suffix));
    return looksOurs ? [name] : [];
  });
}

/** Names that nothing of ours reads. */
export function unknownNames(names: readonly string[]): string[] {
  const known = knownVariables();
  return names.filter((name) => !known.includes(name));
}

function isMisspelled(name: string, known: string): boolean {
  if (name.length < lengthMin || Math.abs(name.length - known.length) > 2) return false;
  return distance(name, known) <= (name.length < 10 ? 1 : 2);
}

/** Letters to add, to drop or to replace. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
