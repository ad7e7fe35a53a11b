import type { Domain, DomainKey } from '../domains/domain.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** After a change. */
const stepsMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs];
/** The time in which somebody may still be about to add the records. */
const setUpMs = 3 * dayMs;
/** Checks of a key in the time for which it must be seen. */
const looksAtKey = 4;
const keyEveryMinMs = 1_000;

type Situation = {
  at: Date;
  seenForMs: number;
  /** Whether a required record, or one of a new key, is not in order. */
  isIncomplete: boolean;
};

/** When the records of a domain are looked at next. */
export function nextCheckAt(
  domain: Domain,
  keys: readonly DomainKey[],
  { at, seenForMs, isIncomplete }: Situation,
): Date {
  const isNew = at.getTime() - domain.updated_at.getTime() < setUpMs;
  const restMs = domain.is_held || (isIncomplete && isNew) ? hourMs : dayMs;
  const regularMs = stepsMs[domain.checks] ?? restMs;
  const keysMs = keys
    .filter(({ state }) => state === 'published')
    .map(({ since }) => {
      const leftMs = seenForMs - (at.getTime() - since.getTime());
      return Math.max(keyEveryMinMs, Math.min(leftMs, seenForMs / looksAtKey));
    });
  return new Date(at.getTime() + Math.min(regularMs, ...keysMs));
}
