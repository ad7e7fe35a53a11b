import validator from 'validator';
import type { Variables } from '#lib/env.ts';

/** The operator's own zone for keys; empty for none. */
export function readDkimZone(variables: Variables): string {
  const zone = variables
    .text('DKIM_ZONE', {
      fallback: '',
      unset: 'domains have their keys in TXT records of their own',
      about:
        'The zone of the operator for the keys of sending domains, such as `dkim.example.net`, at most 100 characters: their owners set a CNAME to it once, and `postrider dkim-zone` prints its records.',
    })
    .toLowerCase();
  variables.derived(() => {
    if (zone === '' || (zone.length <= 100 && validator.isFQDN(zone))) return;
    throw new Error('DKIM_ZONE must be a domain of at most 100 characters');
  });
  return zone;
}

/** How long every check must see a key before it signs. */
export function readKeySeenFor(variables: Variables): number {
  const seconds = variables.integer('DKIM_KEY_SEEN_FOR', {
    fallback: 3_600,
    from: 0,
    to: 604_800,
    about:
      'Seconds for which all DNS servers must show a key of a sending domain before it signs: longer than those of receivers may remember that there was none.',
  });
  return seconds * 1_000;
}
