import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { boundOf } from '../chaos/checker.ts';
import { setRate } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { bringToRest, givenLife, live } from './life.ts';
import { anyPlan, type Plan } from './plan.ts';
import { misfit } from './table.ts';
import { findProblems } from './verdict.ts';

// `MODEL_SEED` and `MODEL_RUNS` select other runs; a failure prints its seed.
const seed = Number(process.env.MODEL_SEED ?? 1);
const runs = Number(process.env.MODEL_RUNS ?? 3);
const runMsMax = 120_000;

const stack = borrowedStack();
beforeAll(async () => {
  await setRate(stack, 6_000);
}, 60_000);

async function inject({ faults }: Plan): Promise<void> {
  await Promise.all(
    faults.map(async ({ victim, afterMs }) => {
      await sleep(afterMs);
      stack.processes.kill(victim);
    }),
  );
}

/** Runs a plan and returns what is wrong afterwards. */
async function problemsOf(plan: Plan): Promise<string[]> {
  const lives = await Promise.all(plan.lives.map((life) => givenLife(stack, life)));
  const faults = inject(plan);
  await Promise.all(plan.lives.map((life, at) => live(stack, lives[at]!, life)));
  await faults;
  await stack.untilServing();
  const { connections_peak: peak } = await stack.sink.status();
  const kills = plan.faults.map(({ victim, afterMs }) => ({
    name: victim,
    afterMs,
    action: 'kill' as const,
    forMs: 0,
    connections: peak,
  }));
  const bound = boundOf(kills, stack.hasJournal);
  const found = await Promise.all(
    lives.map(async (lived) => {
      const status = await bringToRest(stack, lived);
      return findProblems(stack, lived, { status, bound });
    }),
  );
  return found.flat();
}

test(
  'random actions and crashes lose nobody, and mail nobody twice or after unsubscribing',
  async () => {
    await fc.assert(
      fc.asyncProperty(anyPlan, async (plan) => {
        expect(await problemsOf(plan)).toEqual([]);
      }),
      { seed, numRuns: runs, endOnFailure: true },
    );
  },
  runs * runMsMax,
);

test('the model finds an answer that does not fit', () => {
  const good = { status: 200, text: '' };
  const refused = { status: 400, text: 'cannot resume a sent broadcast' };
  expect(misfit('resume', 'paused', good)).toBeUndefined();
  expect(misfit('resume', 'sent', refused)).toBeUndefined();
  expect(misfit('resume', 'sent', good)).toBe('resume of a sent broadcast answered 200 ');
  expect(misfit('resume', 'draft', refused)).toMatch(/^resume of a draft broadcast answered 400/);
  expect(misfit('pause', 'draft', { status: 500, text: 'Failed' })).toBeDefined();
});
