import { expect, test } from '@jest/globals';
import { compare } from './comparison.ts';

const variation = (templateId: string, sent: number, opened: number, clicked = 0) => ({
  templateId,
  numbers: { sent, delivered: 0, opened, clicked },
});

const byPerson = { auto_send_winner: false, auto_send_winner_metric: '' as const };

// Newcombe 1998, table II: 56 of 70 and 48 of 80, and what is at the edges.
test.each([
  ['a clear difference', 56, 70, 48, 80, 0.2, 0.0524, 0.3339],
  ['nothing at all', 0, 10, 0, 10, 0, -0.2775, 0.2775],
  ['all against none', 10, 10, 0, 10, 1, 0.6075, 1],
])('%s has the published interval', (_, openedA, sentA, openedB, sentB, difference, low, high) => {
  const found = compare([variation('a', sentA, openedA), variation('b', sentB, openedB)], byPerson);
  expect(found?.difference).toBeCloseTo(difference, 4);
  expect(found?.low).toBeCloseTo(low, 4);
  expect(found?.high).toBeCloseTo(high, 4);
});

test.each([
  ['one open of one', variation('a', 1, 1), variation('b', 1, 0), false],
  ['silence', variation('a', 5_000, 0), variation('b', 5_000, 0), false],
  ['a difference that chance makes', variation('a', 500, 55), variation('b', 500, 50), false],
  ['99 messages each', variation('a', 99, 90), variation('b', 99, 10), false],
  ['100 messages each', variation('a', 100, 90), variation('b', 100, 10), true],
  ['an empty arm', variation('a', 1_000, 900), variation('b', 0, 0), false],
])('compare says whether %s is enough', (_, a, b, isEnough) => {
  expect(compare([b, a], byPerson)?.isEnough).toBe(isEnough);
});

test('where a person chooses, clicks are compared as soon as there are any, and three variations by the best two', () => {
  const three = [
    variation('a', 500, 400, 10),
    variation('b', 500, 20, 60),
    variation('c', 500, 9, 30),
  ];
  expect(compare(three, byPerson)).toMatchObject({
    metric: 'click_rate',
    best: 'b',
    second: 'c',
    isEnough: true,
  });
});

test('the rate that chooses the winner is the one compared, whatever else there is', () => {
  const test = { auto_send_winner: true, auto_send_winner_metric: 'open_rate' as const };
  const two = [variation('a', 500, 400, 10), variation('b', 500, 20, 60)];
  expect(compare(two, test)).toMatchObject({ metric: 'open_rate', best: 'a' });
  const clicks = { ...test, auto_send_winner_metric: 'click_rate' as const };
  const silent = [variation('a', 500, 400), variation('b', 500, 20)];
  expect(compare(silent, clicks)).toMatchObject({ metric: 'click_rate', difference: 0 });
  expect(compare(silent, { ...clicks, auto_send_winner: false })).toMatchObject({
    metric: 'open_rate',
    best: 'a',
  });
});

test('a broadcast without a second variation is not compared', () => {
  expect(compare([variation('a', 500, 20)], byPerson)).toBeUndefined();
});
