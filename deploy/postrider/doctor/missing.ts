import type { Env } from '#lib/env.ts';
import { allInOne } from '../all.ts';
import { partsOf } from '../parts.ts';
import { type Finding, reasonOf, wrong } from './finding.ts';

/** These have checks of their own, which say more. */
const checked = /^(?:SERVICE_KEYS|TEMPORAL_ADDRESS|(?:[A-Z]+_)?DATABASE_URL) /;

/**
 * The variables that the processes of these services lack. Ports and addresses of services count as
 * those of `all`.
 */
export async function checkMissing(env: Env, services: readonly string[]): Promise<Finding[]> {
  const ofService = (name: string) => services.includes(name.replace(/-worker$/, ''));
  const parts = (await partsOf('all')).flat().filter(({ name }) => ofService(name));
  const faults = new Set(
    parts.flatMap(({ part }) => faultsOf(() => part.configure(allInOne(env)))),
  );
  return [...faults]
    .filter((fault) => / is (?:not set|empty)/.test(fault) && !checked.test(fault))
    .map((fault) => {
      const [name = '', ...rest] = fault.split(' ');
      return wrong(name, rest.join(' '), 'set it; /docs/variables explains it');
    });
}

function faultsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return reasonOf(error).split('; ');
  }
}
