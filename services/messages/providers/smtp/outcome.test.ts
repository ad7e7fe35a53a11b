import { expect, test } from '@jest/globals';
import { cpuMs } from '../../../../test/cpu-time.ts';
import { infoOf, refusal } from './outcome.ts';

/** A hundred lines of 4,096 characters: the longest reply that is read. */
const longest = (character: string) => Array(100).fill(character.repeat(4_096)).join('\n');

/** Patterns that look at a line again from each of its characters need 1.5 s for it. */
const boundMs = 150;

test.each(['a', '@', ' ', '1', 'in ', '\u0001'])(
  'the longest reply of %j is read at once',
  (character) => {
    const ms = cpuMs(() => {
      expect(infoOf({ code: 550, text: longest(character) }).length).toBeLessThanOrEqual(255);
      refusal('RCPT', { code: 450, text: longest(character) });
      refusal('RCPT', { code: 550, text: longest(character) });
    });
    expect(ms).toBeLessThan(boundMs);
  },
);

test('the recorded part of a long reply has no part of an address', () => {
  const names = Array.from({ length: 60 }, (_, at) => `${'n'.repeat(40 + at)}@example.com`);
  const info = infoOf({ code: 550, text: names.join(' ') });
  expect(info).toHaveLength(255);
  expect(info).not.toMatch(/n|@/);
});
