import type { Action } from './plan.ts';

/** The operations of the state table, with their names in error texts. */
const operations: Partial<Record<Action, { name: string; allowed: readonly string[] }>> = {
  update: { name: 'update', allowed: ['draft', 'scheduled', 'paused'] },
  'switch the test': { name: 'update', allowed: ['draft', 'scheduled', 'paused'] },
  'schedule now': { name: 'schedule', allowed: ['draft'] },
  'schedule later': { name: 'schedule', allowed: ['draft'] },
  pause: {
    name: 'pause',
    allowed: ['scheduled', 'testing', 'test_completed', 'winner_selected', 'sending'],
  },
  resume: { name: 'resume', allowed: ['paused'] },
  cancel: {
    name: 'cancel',
    allowed: ['scheduled', 'paused', 'testing', 'test_completed', 'winner_selected', 'sending'],
  },
  delete: { name: 'delete', allowed: ['draft', 'scheduled', 'paused', 'sent', 'cancelled'] },
  'select a winner': {
    name: 'select a winner of',
    allowed: ['testing', 'test_completed', 'paused'],
  },
};

/**
 * States that a broadcast may reach from another without an action, given the faults and clocks of
 * these runs.
 */
const onward: Record<string, readonly string[]> = {
  scheduled: ['testing', 'sending', 'paused', 'test_completed', 'winner_selected', 'sent'],
  testing: ['test_completed', 'winner_selected', 'paused', 'sent'],
  test_completed: ['winner_selected', 'paused', 'sent'],
  winner_selected: ['paused', 'sent'],
  sending: ['paused', 'sent'],
  paused: ['testing', 'test_completed', 'winner_selected', 'sending', 'sent'],
};

/**
 * Whether an answer fits the table, given the state before: a success is allowed in a state that
 * the broadcast could be in by then, a refusal names such a state in which it is not. Undefined if
 * it does, else what is wrong.
 */
export function misfit(
  action: Action,
  before: string,
  { status, text }: { status: number; text: string },
): string | undefined {
  const operation = operations[action];
  if (!operation || status === 503) return undefined;
  if (before === 'deleted' && status === 404) return undefined;
  const { name, allowed } = operation;
  const states = [before, ...(onward[before] ?? [])];
  const said = `${action} of a ${before} broadcast answered ${status} ${text}`;
  if (status === 200) return states.some((state) => allowed.includes(state)) ? undefined : said;
  if (status !== 400) return said;
  const refusals = states
    .filter((state) => !allowed.includes(state) || state === 'paused')
    .map((state) => `cannot ${name} a ${state} broadcast`);
  return refusals.some((refusal) => text.startsWith(refusal)) ? undefined : said;
}
