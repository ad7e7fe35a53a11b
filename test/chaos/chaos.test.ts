import { expect, test } from '@jest/globals';
import { borrowedStack } from '../stack/shared.ts';
import { runChaos } from './chaos.ts';
import { boundOf } from './checker.ts';
import { type Fault, makeSchedule } from './schedule.ts';

const stack = borrowedStack();

const kill = (name: string, afterMs: number): Fault => ({ name, afterMs, deed: 'kill', forMs: 0 });

function chaos(recipients: number, schedule: Fault[], fakeDuplicate = false) {
  return runChaos(stack, {
    recipients,
    schedule,
    fakeDuplicate,
    ratePerMinute: 12_000,
    latencyMs: 200,
    settleMsMax: 120_000,
    say: () => {},
  });
}

test('a broadcast loses nobody and repeats nothing unmarked while processes are killed', async () => {
  const schedule = [
    kill('messages-2', 2_000),
    kill('broadcasts-worker', 3_500),
    kill('postgres', 5_500),
    kill('temporal', 7_000),
  ];
  const report = await chaos(1_500, schedule);
  expect(report.faults).toHaveLength(4);
  expect(report).toMatchObject({ lost: 0, problems: [], counts: { sent: 1_500 } });
}, 180_000);

test('the checker finds a repeat that nobody counts as unknown', async () => {
  const { problems } = await chaos(20, [], true);
  expect(problems).toEqual([
    '1 mails came twice, more than 0',
    expect.stringMatching(/ got a repeat that is not counted as unknown$/),
    '0 unknown, 1 twice',
  ]);
}, 60_000);

test('a schedule follows from its seed, and freezes one replica for a while', () => {
  const options = { faults: 30, everyMs: 6_000, freezeMs: 60_000 };
  const schedule = makeSchedule({ ...options, seed: 7 });
  expect(makeSchedule({ ...options, seed: 7 })).toEqual(schedule);
  expect(makeSchedule({ ...options, seed: 8 })).not.toEqual(schedule);
  const freezes = schedule.filter(({ deed }) => deed === 'freeze');
  expect(freezes).toEqual([expect.objectContaining({ forMs: 60_000 })]);
  const [freeze] = freezes;
  const whileFrozen = schedule.filter(
    ({ deed, name, afterMs }) =>
      deed === 'kill' &&
      name === freeze?.name &&
      afterMs > freeze.afterMs &&
      afterMs < freeze.afterMs + freeze.forMs,
  );
  expect(whileFrozen).toEqual([]);
});

test('the bound counts the processes that could not write down what they had sent', () => {
  const faults = [kill('gateway', 0), kill('messages', 0), kill('postgres', 0)];
  expect(boundOf(faults, 16)).toBe(3 * (16 + 4 * 50));
});
