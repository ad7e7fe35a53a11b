import { expect, test } from '@jest/globals';
import { createCache, remember } from './cache.ts';

function given(entriesMax: number) {
  const asked: string[] = [];
  const lengthOf = remember(entriesMax, (text) => {
    asked.push(text);
    return text === '' ? undefined : text.length;
  });
  return { asked, lengthOf };
}

test('what was said of a text is not asked again, also if it was nothing', () => {
  const { asked, lengthOf } = given(10);
  expect(['ab', '', 'ab', ''].map(lengthOf)).toEqual([2, undefined, 2, undefined]);
  expect(asked).toEqual(['ab', '']);
});

test('more texts than it may keep begin it anew', () => {
  const { asked, lengthOf } = given(2);
  for (const text of ['a', 'b', 'c', 'c', 'a']) lengthOf(text);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});

test('a long text is answered and not kept', () => {
  const { asked, lengthOf } = given(10);
  const long = 'x'.repeat(256);
  expect([lengthOf(long), lengthOf(long)]).toEqual([256, 256]);
  expect(asked).toEqual([long, long]);
});

test('what has a long key is loaded each time', async () => {
  const cached = createCache<number>({ entriesMax: 10, keepMs: 60_000 });
  let loads = 0;
  const load = async () => (loads += 1);
  for (const key of ['short', 'short', 'x'.repeat(1_025), 'x'.repeat(1_025)])
    await cached(key, load);
  expect(loads).toBe(3);
});
