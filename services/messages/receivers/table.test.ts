import { expect, test } from '@jest/globals';
import { limitsOf, readRates } from './table.ts';

test('RECEIVER_RATES names mails a second and how many go at once, by group', () => {
  const rates = readRates(['google=20:5', 'example.net=2.5:1'], 'RECEIVER_RATES');
  expect(limitsOf('google', rates)).toEqual({ perSecond: 20, atOnce: 5 });
  expect(limitsOf('example.net', rates)).toEqual({ perSecond: 2.5, atOnce: 1 });
  expect(limitsOf('gmx', rates)).toEqual({ perSecond: 100, atOnce: 4 });
  expect(limitsOf('another.example', rates)).toEqual({ perSecond: 100, atOnce: 10 });
  expect(limitsOf('constructor', rates)).toEqual({ perSecond: 100, atOnce: 10 });
});

test.each([
  'google',
  'google=20',
  'google=0:5',
  'google=20:0',
  'google=20:201',
  'Google=1:1',
  '=1:1',
])('RECEIVER_RATES with %s is refused with an example', (item) => {
  expect(() => readRates([item], 'RECEIVER_RATES')).toThrow(
    `RECEIVER_RATES has '${item}', which is not a group with its mails a second`,
  );
});
