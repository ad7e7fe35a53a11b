import { expect, jest, test } from '@jest/globals';
import { GroupWriter, type GroupWriterOptions } from './group-writer.ts';

/** A store that remembers its groups, and writes none before `go`. */
function givenWriter(over: Partial<GroupWriterOptions<number>> = {}) {
  const groups: number[][] = [];
  const refused: number[] = [];
  const gate = Promise.withResolvers<void>();
  const writer = new GroupWriter<number>({
    groupMax: 4,
    waitMaxMs: 10,
    write: async (group) => {
      groups.push([...group]);
      await gate.promise;
    },
    refused: async (item) => {
      refused.push(item);
    },
    ...over,
  });
  return { writer, groups, refused, go: gate.resolve };
}

const add = (writer: GroupWriter<number>, count: number, first = 0) => {
  for (let item = first; item < first + count; item += 1) writer.add(item);
};

test('a full group is written at once, and one is written at a time', async () => {
  const { writer, groups, go } = givenWriter();
  add(writer, 10);
  expect(groups).toEqual([[0, 1, 2, 3]]);
  expect(writer.unwritten).toBe(10);
  go();
  await writer.flush();
  expect(groups).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9],
  ]);
  expect(writer.unwritten).toBe(0);
});

test('an item that stays alone is written after a while', () => {
  jest.useFakeTimers();
  try {
    const { writer, groups } = givenWriter();
    add(writer, 1);
    jest.advanceTimersByTime(9);
    expect(groups).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(groups).toEqual([[0]]);
  } finally {
    jest.useRealTimers();
  }
});

test('groups are bounded by bytes, and an item that is larger goes alone', async () => {
  const { writer, groups, go } = givenWriter({ groupMaxBytes: 10, sizeOf: (item) => item });
  for (const size of [4, 4, 4, 50, 1, 1]) writer.add(size);
  go();
  await writer.flush();
  expect(groups).toEqual([[4, 4], [4], [50], [1, 1]]);
});

test('what is refused is found by halving, and the others are written', async () => {
  const tried: number[] = [];
  const written: number[] = [];
  const { writer, refused } = givenWriter({
    write: async (group) => {
      tried.push(group.length);
      if (group.some((item) => item % 10 === 3)) throw new Error('refused');
      written.push(...group);
    },
    groupMax: 16,
  });
  add(writer, 16);
  await writer.flush();
  expect(refused).toEqual([3, 13]);
  expect(written).toHaveLength(14);
  expect(tried.length).toBeLessThan(16);
});

test('the others do not wait for an item that is refused', async () => {
  const slow = Promise.withResolvers<void>();
  const written: number[] = [];
  const { writer } = givenWriter({
    write: async (group) => {
      if (group.includes(0)) throw new Error('refused');
      written.push(...group);
    },
    refused: () => slow.promise,
    groupMax: 1,
  });
  add(writer, 3);
  const flushed = writer.flush();
  await new Promise(setImmediate);
  expect(written).toEqual([1, 2]);
  expect(writer.unwritten).toBe(1);
  slow.resolve();
  await flushed;
});
