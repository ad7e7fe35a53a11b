import { expect, test } from '@jest/globals';
import { decideWinner, type Numbers, rates } from './winner.ts';

const numbers = (sent: number, opened = 0, clicked = 0, delivered = 0): Numbers => ({
  sent,
  delivered,
  opened,
  clicked,
});
const test2 = (a: Numbers, b: Numbers) => [
  { templateId: 'a', numbers: a },
  { templateId: 'b', numbers: b },
];

test.each([
  ['more opens', test2(numbers(10, 3), numbers(10, 4)), 'b', 'open_rate'],
  ['a higher share of fewer', test2(numbers(100, 10), numbers(10, 4)), 'b', 'open_rate'],
  ['a tie', test2(numbers(10, 4), numbers(20, 8)), 'a', 'tie'],
  ['silence', test2(numbers(10), numbers(10)), 'a', 'silence'],
  ['an empty arm', test2(numbers(0), numbers(10, 1)), 'b', 'open_rate'],
  ['nobody at all', test2(numbers(0), numbers(0)), 'a', 'silence'],
] as const)('by opens, %s decides', (_name, variations, templateId, decidedBy) => {
  expect(decideWinner(variations, 'open_rate')).toEqual({ templateId, decidedBy });
});

test.each([
  ['one report in one variation', numbers(100, 10, 0, 1), numbers(100, 30), 'b'],
  ['reports for half of one', numbers(100, 10, 0, 50), numbers(100, 30, 0, 90), 'b'],
  ['reports for most of each', numbers(100, 30, 0, 60), numbers(100, 40, 0, 100), 'a'],
])('with %s the base of rates is what is comparable', (_name, a, b, templateId) => {
  expect(decideWinner(test2(a, b), 'open_rate').templateId).toBe(templateId);
});

test('by clicks, opens do not count', () => {
  const variations = test2(numbers(10, 9, 1), numbers(10, 2, 2));
  expect(decideWinner(variations, 'click_rate')).toEqual({
    templateId: 'b',
    decidedBy: 'click_rate',
  });
});

test('rates divide by what was delivered where that is reported, and never pass 1', () => {
  expect(rates(numbers(10, 4, 2, 8), true)).toEqual({ open_rate: 0.5, click_rate: 0.25 });
  expect(rates(numbers(10, 4, 2, 0), false)).toEqual({ open_rate: 0.4, click_rate: 0.2 });
  expect(rates(numbers(10, 4, 2, 1), true)).toEqual({ open_rate: 1, click_rate: 1 });
});
