import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
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

/**
 * Asks with the kind `warm`. Each test first makes one such request, so that the long limit is used
 * up.
 */
const ask = (action: Action) => thread.ask(() => action, { kind: 'warm' });

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

test('a request without an answer when it closes is refused, not taken for one that killed its thread', async () => {
  await ask('answer');
  const asked = [ask('loop'), ask('answer')];
  const answers = Promise.allSettled(asked);
  await thread.close();
  const busy = { status: 'rejected', reason: expect.any(ThreadBusyError) };
  expect(await answers).toEqual([busy, busy]);
  expect(() => ask('answer')).toThrow(ThreadBusyError);
});

test('a request that waits for a spare when the thread closes is refused, and the spare ends', async () => {
  const closing = new KillableThread<Action, number>(script, {
    ...limits,
    warmUps: { work: { work: 'answer later' } },
  });
  await closing.ask(() => 'answer', { kind: 'work' });
  expect(await closing.ask(() => 'exit', { kind: 'work' })).toBeUndefined();
  const refused = expect(closing.ask(() => 'answer', { kind: 'work' })).rejects.toThrow(
    ThreadBusyError,
  );
  // Its turn has come.
  await new Promise((resolve) => setImmediate(resolve));
  await closing.close();
  await refused;
});

test.each<Action>(['fill memory', 'throw', 'exit'])(
  'the process lives on when a thread has to %s',
  async (action) => {
    // Filling the memory may take longer than a short limit allows: the first request has the long
    // one.
    expect(await thread.ask(() => action, { kind: 'first' })).toBeUndefined();
    expect(await thread.ask(() => 'answer', { kind: 'first' })).toBeGreaterThan(0);
  },
);

test('the first request of each kind has the longer limit, the second has not', async () => {
  const patient = new KillableThread<Action, number>(script, { ...limits, startMs: 1_500 });
  const timeOf = async (kind: string) => {
    const startedAtMs = Date.now();
    expect(await patient.ask(() => 'loop', { kind })).toBeUndefined();
    return Date.now() - startedAtMs;
  };
  await patient.ask(() => 'answer', { kind: 'a' });
  expect(await timeOf('b')).toBeGreaterThanOrEqual(1_490);
  await patient.ask(() => 'answer', { kind: 'a' });
  expect(await timeOf('a')).toBeLessThan(1_400);
  await patient.close();
});

test('a request that waits for a busy machine has longer, though not for ever', async () => {
  await ask('answer');
  const startedAtMs = Date.now();
  expect(await ask('wait')).toBeUndefined();
  expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(limits.timeMs * 4 - 10);
});

test('a process that stood still for long kills no thread for it', async () => {
  const script = fileURLToPath(new URL('./test/stopped-thread.ts', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  expect(await once(lines, 'line')).toEqual(['asked']);
  child.kill('SIGSTOP');
  // Longer than a request may last.
  await new Promise((done) => setTimeout(done, 3_000));
  child.kill('SIGCONT');
  expect(await once(lines, 'line')).toEqual(['answered']);
  await once(child, 'exit');
}, 30_000);

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

test('tenants take turns, however many requests one of them has', async () => {
  const answered: string[] = [];
  const askFor = (tenant: string) =>
    patient.ask(() => 'answer', { tenant }).then(() => answered.push(tenant));
  const patient = new KillableThread<Action, number>(script, { ...limits, waitingMax: 10 });
  await Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(askFor));
  expect(answered).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  await patient.close();
});

test('a tenant has a share of the places', async () => {
  const shared = new KillableThread<Action, number>(script, { ...limits, tenantWaitingMax: 1 });
  const first = shared.ask(() => 'answer', { tenant: 'a' });
  expect(() => shared.ask(() => 'answer', { tenant: 'a' })).toThrow(ThreadBusyError);
  expect(await shared.ask(() => 'answer', { tenant: 'b' })).toBe(await first);
  await shared.close();
});

test('a request whose caller has left is dropped, and its place is free', async () => {
  const leaving = new AbortController();
  const first = ask('answer');
  const made: string[] = [];
  const dropped = [1, 2].map(() =>
    thread.ask(
      () => {
        made.push('dropped');
        return 'answer';
      },
      { signal: leaving.signal },
    ),
  );
  leaving.abort(new Error('left'));
  for (const each of dropped) await expect(each).rejects.toThrow('left');
  expect(await Promise.all([ask('answer'), ask('answer')])).toEqual([await first, await first]);
  expect(made).toEqual([]);
  expect(() => thread.ask(() => 'answer', { signal: leaving.signal })).toThrow('left');
});

test('a warm spare takes the place of a thread that was killed, so that no further request has the long limit', async () => {
  const spared = new KillableThread<Action, number>(script, {
    ...limits,
    startMs: 20_000,
    warmUps: { work: { work: 'answer' } },
  });
  const first = await spared.ask(() => 'answer', { kind: 'work' });
  // Each loop ends by the short limit; the long one would end the test.
  for (let kills = 0; kills < 3; kills += 1) {
    expect(await spared.ask(() => 'loop', { kind: 'work' })).toBeUndefined();
    expect(await spared.ask(() => 'answer', { kind: 'work' })).toBeGreaterThan(first ?? 0);
  }
  await spared.close();
}, 15_000);
