import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { WorkspaceTurns } from './workspace-turns.ts';

function givenTurns({ workspaceMax = 2, waitingMax = 4, waitMaxMs = 1_000 } = {}) {
  const turns = new WorkspaceTurns({ workspaceMax, waitingMax, waitMaxMs });
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

test('work that fails gives its place back', async () => {
  const turns = new WorkspaceTurns({ workspaceMax: 1, waitingMax: 1, waitMaxMs: 20 });
  const fail = turns.take('a', () => Promise.reject(new Error('broken')));
  await expect(fail).rejects.toThrow('broken');
  expect(await turns.take('a', async () => 'works')).toBe('works');
});
