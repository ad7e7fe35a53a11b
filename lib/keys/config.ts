import type { Variables } from '#lib/env.ts';
import { type Keyset, readKeysetOf } from './keyset.ts';

const text = {
  about:
    'The keys of this service, and of no other: `npm run keys` makes them. Workers have those of their service. A process that runs several services has the keys of each, separated by white space.',
};

/** The keys of a service. */
export function readServiceKeys(variables: Variables, service: string): Keyset {
  const given = variables.secret('SERVICE_KEYS', text);
  const read = () => readKeysetOf(given, service);
  return (given === '' ? undefined : variables.derived(read)) ?? ({} as Keyset);
}

/** The same as they are written, of whatever services; empty if there are none. */
export function readGivenKeys(variables: Variables): string {
  return variables.secret('SERVICE_KEYS', { ...text, fallback: '' });
}
