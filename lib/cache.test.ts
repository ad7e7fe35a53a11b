import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { until } from '../test/stack/until.ts';
import { createCache, remember, rememberLong } from './cache.ts';

function given(entriesMax: number) {
  const asked: string[] = [];
  const lengthOf = remember(entriesMax, (text) => {
    asked.push(text);
    return text === '' ? undefined : text.length;
  });
  return { asked, lengthOf };
}

test('the result for a text is computed once, also if it is undefined', () => {
  const { asked, lengthOf } = given(10);
  expect(['ab', '', 'ab', ''].map(lengthOf)).toEqual([2, undefined, 2, undefined]);
  expect(asked).toEqual(['ab', '']);
});

test('when the cache is full, the result that was used longest ago is dropped', () => {
  const { asked, lengthOf } = given(2);
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) lengthOf(text);
  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

test('the result for a long text is not kept', () => {
  const { asked, lengthOf } = given(10);
  const long = 'x'.repeat(256);
  expect([lengthOf(long), lengthOf(long)]).toEqual([256, 256]);
  expect(asked).toEqual([long, long]);
});

test('long texts are kept up to their number and their bytes together', () => {
  const asked: string[] = [];
  const compute = (text: string) => {
    asked.push(text[0] ?? '');
    return { length: text.length };
  };
  const lengthOf = rememberLong({ entriesMax: 3, textMaxBytes: 2_100 }, compute);
  const [a, b, c, tooLong] = ['a'.repeat(500), 'b'.repeat(500), 'c'.repeat(500), 'd'.repeat(1_500)];
  for (const text of [a, b, a, c, a, b, tooLong, tooLong, b, '', '', 'x', 'y', b]) lengthOf(text);
  expect(asked).toEqual(['a', 'b', 'c', 'b', 'd', 'd', '', 'x', 'y', 'b']);
});

test('a value with a long key is loaded each time', async () => {
  const cached = createCache<number>({ entriesMax: 10, keepMs: 60_000 });
  let loads = 0;
  const load = async () => (loads += 1);
  for (const key of ['short', 'short', 'x'.repeat(1_025), 'x'.repeat(1_025)])
    await cached(key, load);
  expect(loads).toBe(3);
});

test('a loaded value is kept for the given time, and a failed load is not kept', async () => {
  const cached = createCache<number>({ entriesMax: 10, keepMs: 50 });
  await expect(cached('key', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await cached('key', async () => 1)).toBe(1);
  expect(await cached('key', async () => 2)).toBe(1);
  await until('the value is loaded again', async () => (await cached('key', async () => 3)) === 3);
});

describe('a cache that renews', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  const givenRenewed = () => {
    jest.useFakeTimers();
    const cached = createCache<number>({ entriesMax: 10, keepMs: 1_000, isRenewed: true });
    const loads: (() => void)[] = [];
    const load = () => {
      const number = loads.length + 1;
      return new Promise<number>((done, fail) => {
        loads.push(() => (number === 3 ? fail(new Error('away')) : done(number)));
      });
    };
    return { loads, ask: () => cached('key', load), load };
  };
  const after = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  test('a value is loaded anew beside the use whose next one would find it too old', async () => {
    const { loads, ask } = givenRenewed();
    const first = ask();
    loads[0]?.();
    expect(await first).toBe(1);
    await after(400);
    expect([await ask(), loads.length]).toEqual([1, 1]);
    await after(400);
    // The next one is expected after 1,200 ms.
    expect([await ask(), loads.length]).toEqual([1, 2]);
    expect([await ask(), loads.length]).toEqual([1, 2]);
    await after(100);
    loads[1]?.();
    await after(0);
    expect([await ask(), loads.length]).toEqual([2, 2]);
    // Its age counts from the beginning of its load.
    await after(890);
    expect([await ask(), loads.length]).toEqual([2, 3]);
    loads[2]?.();
    // A renewal that fails changes nothing, and the value is too old at last.
    await after(20);
    void ask();
    expect(loads.length).toBe(4);
  });

  test('one that is used once a second is loaded by each use, and a busy one once a second', async () => {
    const { loads, ask } = givenRenewed();
    const askAndAnswer = async () => {
      const asked = ask();
      for (const done of loads) done();
      await asked.catch(() => undefined);
    };
    await askAndAnswer();
    await after(1_001);
    await askAndAnswer();
    expect(loads.length).toBe(2);
    for (let count = 0; count < 89; count += 1) {
      await after(10);
      await askAndAnswer();
    }
    expect(loads.length).toBe(2);
    await after(10);
    await askAndAnswer();
    expect(loads.length).toBe(3);
  });
});

test('a value that is used often stays when the cache is full', async () => {
  const cached = createCache<number>({ entriesMax: 2 });
  for (const key of ['busy', 'a', 'busy', 'b', 'busy', 'c']) await cached(key, async () => 1);
  expect(await cached('busy', async () => 2)).toBe(1);
  expect(await cached('a', async () => 2)).toBe(2);
});

test('values are kept up to their bytes, the busiest ones longest', async () => {
  const cached = createCache<string>({ maxBytes: 1_000, sizeOf: ({ length }) => 0.995 * length });
  const loaded: string[] = [];
  const ask = (key: string, size: number) =>
    cached(key, async () => {
      loaded.push(key);
      return 'x'.repeat(size);
    });
  for (const key of ['busy', 'a', 'busy', 'b', 'busy', 'c', 'busy', 'a']) await ask(key, 300);
  expect(loaded).toEqual(['busy', 'a', 'b', 'c', 'a']);
  for (let i = 0; i < 900; i += 1) await ask('busy', 300);
  expect(loaded.length).toBe(5);
});

test('a value that is larger than half of the cache is used, not kept, and pushes nothing out', async () => {
  const cached = createCache<string>({ maxBytes: 1_000, sizeOf: (value) => value.length });
  const huge = async () => 'x'.repeat(501);
  await cached('small', async () => 'kept');
  expect((await cached('huge', huge)).length).toBe(501);
  expect(await cached('huge', async () => 'again')).toBe('again');
  expect(await cached('small', async () => 'loaded again')).toBe('kept');
});

test('calls at the same time share one load, whatever its size', async () => {
  const cached = createCache<string>({ maxBytes: 1_000, sizeOf: (value) => value.length });
  let loads = 0;
  const load = async () => {
    loads += 1;
    await new Promise(setImmediate);
    return 'x'.repeat(5_000);
  };
  await Promise.all([cached('key', load), cached('key', load), cached('key', load)]);
  expect(loads).toBe(1);
});

test('a dropped value is loaded again, also if it was being loaded', async () => {
  const cached = createCache<number>({ entriesMax: 10 });
  const { promise, resolve } = Promise.withResolvers<number>();
  await cached('a', async () => 1);
  await cached('b', async () => 1);
  const before = cached('c', () => promise);
  cached.drop((key) => key !== 'b');
  expect(await cached('c', async () => 2)).toBe(2);
  resolve(1);
  expect(await before).toBe(1);
  for (const [key, value] of [
    ['a', 2],
    ['b', 1],
    ['c', 2],
  ] as const) {
    expect(await cached(key, async () => 2)).toBe(value);
  }
});
