import { expect, test } from '@jest/globals';
import type { SendOutcome } from '../providers/outcome.ts';
import type { Outgoing } from '../providers/outgoing.ts';
import { mailOf } from '../test/given-pool.ts';
import { type Answered, Gates } from './gates.ts';

/** A sender that keeps what it is given, and a gate for all messages whose id begins with `g`. */
function givenGates(atOnce = 2) {
  const gates = new Gates();
  const sent: Outgoing[] = [];
  const outcomes = new Map<string, SendOutcome>();
  const heard: SendOutcome[] = [];
  const answered: Answered = (outcome) => heard.push(outcome);
  const key = { name: 'w1 smtp google', atOnce: () => atOnce, answered };
  const sender = { send: (all: readonly Outgoing[]) => sent.push(...all), dropOver: () => {} };
  const hatch = gates.before({ ...sender, send: (all) => void sender.send(all) }, (id) =>
    id.startsWith('g') ? key : undefined,
  );
  const outgoing = (id: string, startsUntilMs = Date.now() + 60_000): Outgoing => ({
    ...{ id, from: 'a@x', to: `${id}@x`, copies: [], refusedCopies: 0, lost: 0 },
    ...{ startsUntilMs, held: { leaseUntilMs: Date.now() + 60_000 } },
    signal: new AbortController().signal,
    prepare: () => mailOf([]),
    failureInfo: () => '',
    settle: (outcome) => outcomes.set(id, outcome),
  });
  const idsSent = () => sent.map(({ id }) => id);
  const settle = (id: string, outcome: SendOutcome) =>
    sent.find((each) => each.id === id)?.settle(outcome);
  return { gates, hatch, outgoing, idsSent, settle, outcomes, heard, name: key.name };
}

const accepted: SendOutcome = { kind: 'accepted', info: '250 ok' };

test('messages beyond those of a group on their way wait, urgent ones first, and others pass', () => {
  const { gates, hatch, outgoing, idsSent, settle, outcomes } = givenGates();
  hatch.send(['g1', 'g2', 'g3', 'o1'].map((id) => outgoing(id)));
  expect(idsSent()).toEqual(['g1', 'g2', 'o1']);
  hatch.send([outgoing('g4')], { isUrgent: true });
  settle('g1', accepted);
  expect(idsSent()).toEqual(['g1', 'g2', 'o1', 'g4']);
  settle('g2', accepted);
  settle('g4', accepted);
  settle('g3', accepted);
  expect(outcomes.size).toBe(4);
  expect(gates.waiting).toBe(0);
});

test('messages that wait are settled when they may not be begun any more', () => {
  const { gates, hatch, outgoing, settle, outcomes, idsSent } = givenGates(1);
  hatch.send([outgoing('g1'), outgoing('g2', Date.now() - 1), outgoing('g3')]);
  hatch.dropOver();
  expect(outcomes.get('g2')).toEqual({ kind: 'not_started' });
  settle('g1', accepted);
  expect(idsSent()).toEqual(['g1', 'g3']);
  expect(gates.waiting).toBe(0);
});

test('an outage of the provider settles all that waits for it', () => {
  const { hatch, outgoing, settle, outcomes, idsSent } = givenGates(1);
  hatch.send(['g1', 'g2', 'g3'].map((id) => outgoing(id)));
  const outage: SendOutcome = { kind: 'outage', info: 'connection refused' };
  settle('g1', outage);
  expect([...outcomes.values()]).toEqual([outage, outage, outage]);
  expect(idsSent()).toEqual(['g1']);
});

test('a group has room for as many as it takes in a second', () => {
  const { gates, hatch, outgoing, name } = givenGates();
  expect(gates.roomOf(name, 2)).toBe(40);
  hatch.send(['g1', 'g2', 'g3'].map((id) => outgoing(id)));
  expect(gates.roomOf(name, 2)).toBe(37);
});
