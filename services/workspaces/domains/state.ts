import type { Domain } from './domain.ts';
import type { WantedRecord } from './records.ts';

export type DomainState = 'pending' | 'ok' | 'broken' | 'held';

/** By what is known of its required records: a server that fails changes nothing. */
export function stateOf(
  { findings, is_held }: Pick<Domain, 'findings' | 'is_held'>,
  records: readonly WantedRecord[],
): DomainState {
  if (is_held) return 'held';
  const open = records.filter(({ key, isRequired }) => isRequired && findings[key]?.known !== 'ok');
  if (open.length === 0) return 'ok';
  return open.some(({ key }) => findings[key]?.was_ok) ? 'broken' : 'pending';
}
