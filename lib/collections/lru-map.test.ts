import { expect, test } from '@jest/globals';
import { LruMap } from './lru-map.ts';

test('the entry that was used least recently goes first', () => {
  const map = new LruMap<number>({ max: 2 });
  map.set('a', 1).set('b', 2);
  map.get('a');
  map.set('c', 3).set('c', 4);
  expect([...map.entries()]).toEqual([
    ['c', 4],
    ['a', 1],
  ]);
});

test('entries go with their time', () => {
  let now = 1;
  const perf = { now: () => now };
  const map = new LruMap<string>({ max: 2, ttl: 10, perf });
  map.set('a', 'kept');
  now = 12;
  expect(map.get('a')).toBeUndefined();
});
