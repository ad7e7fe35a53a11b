import { afterEach, expect, test } from '@jest/globals';
import { KillableThread, ThreadBusyError } from './killable-thread.ts';
import type { Action } from './test/thread-worker.ts';

const script = new URL('./test/thread-worker.ts', import.meta.url);
const limits = { timeMs: 300, startMs: 5_000, memoryMb: 32, waitingMax: 3 };

let thread: KillableThread<Action, number> = fresh();
afterEach(async () => {
  await thread.close();
  thread = fresh();
});

function fresh(): KillableThread<Action, number> {
  return new KillableThread(script, limits);
}

/** Asks with the kind `warm`. Each test first makes one such request, so that the long limit is used up. */
const ask = (action: Action) => thread.ask(() => action, 'warm');

test('one thread answers request after request', async () => {
  const first = await ask('answer');
  expect(first).toBeGreaterThan(0);
  expect(await Promise.all([ask('answer'), ask('answer')])).toEqual([first, first]);
});

test('a thread that loops is killed in time, and the next request gets a new one', async () => {
  const before = await ask('answer');
  expect(await ask('loop')).toBeUndefined();
  const after = await ask('answer');
  expect(after).toBeGreaterThan(before ?? 0);
});

test.each<Action>(['fill memory', 'throw', 'exit'])(
  'the process lives on when a thread is told to %s',
  async (action) => {
    // Filling the memory may take longer than a short limit allows: the first request has the long one.
    expect(await thread.ask(() => action, 'first')).toBeUndefined();
    expect(await thread.ask(() => 'answer', 'first')).toBeGreaterThan(0);
  },
);

test('the first request of each kind has the longer limit, the second has not', async () => {
  const patient = new KillableThread<Action, number>(script, { ...limits, startMs: 1_500 });
  const timeOf = async (kind: string) => {
    const startedAtMs = Date.now();
    expect(await patient.ask(() => 'loop', kind)).toBeUndefined();
    return Date.now() - startedAtMs;
  };
  await patient.ask(() => 'answer', 'a');
  expect(await timeOf('b')).toBeGreaterThanOrEqual(1_490);
  await patient.ask(() => 'answer', 'a');
  expect(await timeOf('a')).toBeLessThan(1_400);
  await patient.close();
});

test('more requests than may wait are refused, and the waiting ones are answered', async () => {
  const waiting = [ask('answer'), ask('answer'), ask('answer')];
  expect(() => ask('answer')).toThrow(ThreadBusyError);
  const answers = await Promise.all(waiting);
  expect(answers.every((answer) => answer !== undefined)).toBe(true);
  expect(await ask('answer')).toBe(answers[0]);
});

test('a request is created when its turn comes, and fails alone if it cannot be created', async () => {
  const made: string[] = [];
  const first = thread.ask(() => {
    made.push('first');
    return 'answer';
  });
  const second = thread.ask(() => {
    made.push('second');
    throw new Error('not any more');
  });
  expect(made).toEqual([]);
  await first;
  await expect(second).rejects.toThrow('not any more');
  expect(made).toEqual(['first', 'second']);
  expect(await ask('answer')).toBe(await first);
});
