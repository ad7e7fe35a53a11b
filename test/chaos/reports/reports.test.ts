import { expect, test } from '@jest/globals';
import { makeReportKills } from './chaos.ts';
import { type Observed, type Outcome, verdictOf } from './checker.ts';

const outcome = (id: string, over: Partial<Outcome> = {}): Outcome => ({
  ...{ id, delivered: true, bounced: false, complained: false, suppressed: false },
  ...over,
});
const good: Observed = {
  reported: [
    { id: 'a', email: 'a@example.com', events: ['delivered'] },
    { id: 'b', email: 'b@example.com', events: ['bounce'] },
  ],
  outcomes: [outcome('a'), outcome('b', { delivered: false, bounced: true, suppressed: true })],
  counts: { delivered: 1, bounced: 1, complained: 0 },
  events: [
    { id: 'a', type: 'email.delivered' },
    { id: 'b', type: 'email.bounced' },
  ],
};

test('the checker is content with reports that are applied once', () => {
  expect(verdictOf(good)).toEqual({ lost: 0, twice: 0, problems: [] });
});

const [a, b] = good.outcomes as [Outcome, Outcome];

test.each<[string, Partial<Observed>, string]>([
  [
    'a lost report',
    { outcomes: [{ ...a, delivered: false }, b], counts: { ...good.counts, delivered: 0 } },
    '1 reports were lost',
  ],
  [
    'a message that nobody reported',
    { outcomes: [{ ...a, complained: true }, b], counts: { ...good.counts, complained: 1 } },
    'a is complained, and nobody said so',
  ],
  [
    'an event that was published twice',
    { events: [...good.events, { id: 'a', type: 'email.delivered' }] },
    '1 events were published twice',
  ],
  ['an event that is missing', { events: good.events.slice(1) }, 'a has 0 events email.delivered'],
  [
    'a report that is counted twice',
    { counts: { ...good.counts, delivered: 2 } },
    '2 are counted as delivered, and 1 are',
  ],
  ['a dead address', { outcomes: [a, { ...b, suppressed: false }] }, 'b leaves its address open'],
])('the checker finds %s', (_, over, problem) => {
  expect(verdictOf({ ...good, ...over }).problems).toEqual([problem]);
});

test('the kills depend only on the seed, and reach all that reports pass', () => {
  const options = { kills: 12, everyMs: 5_000 };
  const kills = makeReportKills({ ...options, seed: 7 });
  expect(makeReportKills({ ...options, seed: 7 })).toEqual(kills);
  expect(makeReportKills({ ...options, seed: 8 })).not.toEqual(kills);
  expect(new Set(kills.slice(0, 7).map(({ name }) => name)).size).toBe(5);
});
