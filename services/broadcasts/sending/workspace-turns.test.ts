import { setTimeout as sleep } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { until } from '../../../test/stack/until.ts';
import { type TurnLimits, WorkspaceTurns } from './workspace-turns.ts';

function givenTurns({
  workspaceMax = 2,
  waitingMax = 4,
  waitMaxMs = 1_000,
  restMaxMs = 0,
}: Partial<TurnLimits> = {}) {
  const turns = new WorkspaceTurns({ workspaceMax, waitingMax, waitMaxMs, restMaxMs });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (workspaceId: string, name: string) =>
    turns.take(workspaceId, async (turn) => {
      begun.push(name);
      await new Promise<void>((done) => ends.set(name, done));
      return turn.othersWait();
    });
  return { begin, begun, end: (name: string) => ends.get(name)?.() };
}

test('activities of a workspace wait for their turn, first come, first served; those of another do not', async () => {
  const { begin, begun, end } = givenTurns();
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => begin('a', name));
  all.push(begin('b', 'b1'));
  await sleep(1);
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  end('a2');
  expect(await all[1]).toBe(true);
  await sleep(1);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  end('a1');
  await sleep(1);
  expect(begun.at(-1)).toBe('a4');
  for (const name of ['a3', 'a4', 'b1']) end(name);
  expect(await Promise.all(all)).toEqual([true, true, false, false, false]);
});

test('one that finds no place in time, or too many waiting, leaves its slot and comes again soon', async () => {
  const { begin, end } = givenTurns({ workspaceMax: 1, waitingMax: 1, waitMaxMs: 20 });
  const first = begin('a', 'first');
  const refused = await Promise.allSettled([begin('a', 'late'), begin('a', 'third')]);
  const reason = { type: 'NotYet', nonRetryable: false };
  expect(refused).toMatchObject([{ reason }, { reason }]);
  end('first');
  await first;
  const next = begin('a', 'next');
  end('next');
  await next;
});

test('one that is refused comes again once those that wait have had their turn', async () => {
  const { begin, end } = givenTurns({ workspaceMax: 1, waitingMax: 3, waitMaxMs: 60_000 });
  const refused = async () => {
    const error = await begin('a', 'late').catch((reason: unknown) => reason);
    return error instanceof ApplicationFailure ? Number(error.nextRetryDelay) : Number.NaN;
  };
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => begin('a', name));
  // Nothing is known of how long they take.
  expect(await refused()).toBeLessThanOrEqual(3_000);
  // A timer may run a millisecond early.
  await sleep(1_010);
  end('a1');
  await all[0];
  all.push(begin('a', 'a5'));
  const laterMs = await refused();
  expect(laterMs).toBeGreaterThanOrEqual(3_000);
  expect(laterMs).toBeLessThanOrEqual(15_000);
  for (const name of ['a2', 'a3', 'a4', 'a5']) {
    await sleep(1);
    end(name);
  }
  await Promise.all(all);
});

test('while others of the workspace wait, a place rests as long as it was used', async () => {
  const { begin, begun, end } = givenTurns({ workspaceMax: 1, restMaxMs: 60_000 });
  const first = begin('a', 'first');
  const second = begin('a', 'second');
  const usedMs = 100;
  const beganAtMs = performance.now();
  await sleep(usedMs);
  end('first');
  // The answer does not wait for the rest.
  await first;
  expect(begun).toEqual(['first']);
  const other = begin('b', 'other');
  await until('the second begins', async () => begun.includes('second'));
  expect(performance.now() - beganAtMs).toBeGreaterThanOrEqual(2 * usedMs - 5);
  expect(begun).toEqual(['first', 'other', 'second']);
  for (const name of ['other', 'second']) end(name);
  await Promise.all([second, other]);
  // Nobody waits.
  const third = begin('a', 'third');
  await sleep(1);
  expect(begun.at(-1)).toBe('third');
  end('third');
  await third;
});

test('a place rests no longer than its limit', async () => {
  const { begin, begun, end } = givenTurns({ workspaceMax: 1, restMaxMs: 1, waitMaxMs: 60_000 });
  const first = begin('a', 'first');
  const second = begin('a', 'second');
  await sleep(20);
  const timers = jest.spyOn(globalThis, 'setTimeout');
  end('first');
  await first;
  expect(timers.mock.calls.map(([, ms]) => ms)).toEqual([1]);
  timers.mockRestore();
  await until('the second begins', async () => begun.includes('second'));
  end('second');
  await second;
});

test('work that fails gives its place back', async () => {
  const turns = new WorkspaceTurns({ workspaceMax: 1, waitingMax: 1, waitMaxMs: 20, restMaxMs: 0 });
  const fail = turns.take('a', () => Promise.reject(new Error('broken')));
  await expect(fail).rejects.toThrow('broken');
  expect(await turns.take('a', async () => 'works')).toBe('works');
});
