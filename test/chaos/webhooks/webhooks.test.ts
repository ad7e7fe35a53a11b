import { expect, test } from '@jest/globals';
import { type Arrival, boundOf, verdictOf } from './checker.ts';
import { makeWebhookKills } from './schedule.ts';

const arrival = (email: string, over: Partial<Arrival> = {}): Arrival => ({
  ...{ atMs: 1_000, path: '/kept', id: `id of ${email}`, email },
  ...over,
});

function verdict(arrivals: Arrival[], faults: string[] = []) {
  const named = faults.map((name) => ({ name }));
  return verdictOf({ emails: ['a', 'b'], arrivals, faults: named, deletedAtMs: 5_000 });
}

test('the checker is content with every event once, and repeats under one id that kills explain', () => {
  const all = [arrival('a'), arrival('b')];
  expect(verdict(all)).toMatchObject({ lost: 0, twice: 0, problems: [] });
  expect(verdict([...all, arrival('b')], ['webhooks'])).toMatchObject({ twice: 1, problems: [] });
});

test.each<[string, Arrival[], string]>([
  ['an event that never came', [arrival('a')], '1 events never came'],
  [
    'a repeat without a kill that explains it',
    [arrival('a'), arrival('b'), arrival('b')],
    '1 came twice, more than 0',
  ],
  [
    'a callback after deletion',
    [arrival('a'), arrival('b'), arrival('a', { path: '/deleted', atMs: 15_001 })],
    '1 came for the deleted subscription, which may have had 40 open',
  ],
])('the checker finds %s', (_, arrivals, problem) => {
  expect(verdict(arrivals).problems).toEqual([problem]);
});

test('the checker finds an event under two ids', () => {
  const arrivals = [arrival('a'), arrival('b'), arrival('b', { id: 'other' })];
  expect(verdict(arrivals, ['webhooks']).problems).toEqual(['the event of b came under 2 ids']);
});

test('the bound counts what is open and not stored at a kill of a sender, and what is open at one of the endpoint', () => {
  const bounds = ['postgres', 'temporal', 'endpoint', 'webhooks', 'webhooks-worker'].map((name) =>
    boundOf([{ name }]),
  );
  expect(bounds).toEqual([0, 0, 80, 2_040, 2_040]);
});

test('the kills depend only on the seed, and each process is killed before any is killed twice', () => {
  const options = { kills: 10, everyMs: 6_000 };
  const kills = makeWebhookKills({ ...options, seed: 7 });
  expect(makeWebhookKills({ ...options, seed: 7 })).toEqual(kills);
  expect(makeWebhookKills({ ...options, seed: 8 })).not.toEqual(kills);
  expect(new Set(kills.slice(0, 5).map(({ name }) => name)).size).toBe(5);
  expect(kills.filter(({ name }) => name === 'endpoint')).toHaveLength(2);
});
