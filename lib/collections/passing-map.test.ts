import { expect, test } from '@jest/globals';
import { survivorsOf } from '#lib/test/minor-collection.ts';
import { PassingMap } from './passing-map.ts';

const passing = 40_000;
const bytesEach = 1_600;

/** Entries come and go, sixteen at a time. */
function pass(map: Map<number, number[]>, count: number): void {
  for (let key = 0; key < count; key += 1) {
    map.set(key, new Array(bytesEach / 8).fill(key));
    map.delete(key - 16);
  }
}

test('entries that are gone do not outlive a collection of the young generation', async () => {
  const map = new PassingMap<number, number[]>();
  pass(map, 100);
  const survivedBytes = await survivorsOf(() => pass(map, passing));
  expect(survivedBytes).toBeLessThan((passing * bytesEach) / 10);
});

test('it is a map, whether its table was replaced or not', () => {
  const map = new PassingMap<number, number[]>();
  const plain = new Map<number, number[]>();
  for (let count = 1; count <= 1_001; count += 100) {
    pass(map, count);
    pass(plain, count);
    expect([map.size, [...map], [...map.keys()], [...map.values()], [...map.entries()]]).toEqual([
      plain.size,
      [...plain],
      [...plain.keys()],
      [...plain.values()],
      [...plain.entries()],
    ]);
    const seen: [number, number[]][] = [];
    map.forEach((value, key) => {
      seen.push([key, value]);
    });
    expect(seen).toEqual([...plain]);
  }
  expect([map.has(1_000), map.get(1_000), map.has(1), map.delete(1), map.delete(1_000)]).toEqual([
    true,
    plain.get(1_000),
    false,
    false,
    true,
  ]);
  map.clear();
  expect(map.size).toBe(0);
});
