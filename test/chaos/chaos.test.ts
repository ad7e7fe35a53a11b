import { expect, test } from '@jest/globals';
import { borrowedStack } from '../stack/shared.ts';
import { runChaos } from './chaos.ts';
import { boundOf } from './checker.ts';
import { type Fault, makeSchedule } from './schedule.ts';

const stack = borrowedStack();

const kill = (name: string, afterMs: number): Fault => ({
  name,
  afterMs,
  action: 'kill',
  forMs: 0,
});

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

test('a broadcast loses nobody and counts every repeat while processes are killed', async () => {
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

test('a broadcast to segments reaches exactly those for whom a plain evaluation says yes', async () => {
  const report = await runChaos(stack, {
    ...{ recipients: 3_000, segmentSeed: 7, fakeDuplicate: false },
    schedule: [
      kill('contacts', 300),
      kill('broadcasts-worker', 1_000),
      kill('messages-2', 2_000),
      kill('contacts', 4_000),
      kill('postgres', 5_000),
    ],
    ...{ ratePerMinute: 12_000, latencyMs: 200, settleMsMax: 120_000 },
    say: () => {},
  });
  expect(report.faults.length).toBeGreaterThan(3);
  expect(report).toMatchObject({ lost: 0, problems: [] });
  expect(report.counts.sent).toBeGreaterThan(500);
}, 180_000);

test('the checker finds a repeat that is not counted as unknown', async () => {
  const { problems } = await chaos(20, [], true);
  expect(problems).toEqual([
    '1 mails came twice, more than 0',
    expect.stringMatching(/ got a repeat that is not counted as unknown$/),
    '0 unknown, 1 twice',
  ]);
}, 60_000);

test('a schedule depends only on its seed, and freezes one replica for a while', () => {
  const options = { faults: 30, everyMs: 6_000, freezeMs: 60_000, sendersLive: false };
  const schedule = makeSchedule({ ...options, seed: 7 });
  expect(makeSchedule({ ...options, seed: 7 })).toEqual(schedule);
  expect(makeSchedule({ ...options, seed: 8 })).not.toEqual(schedule);
  const freezes = schedule.filter(
    ({ action, name }) => action === 'freeze' && name.startsWith('messages'),
  );
  expect(freezes).toEqual([expect.objectContaining({ forMs: 60_000 })]);
  const [freeze] = freezes;
  const whileFrozen = schedule.filter(
    ({ action, name, afterMs }) =>
      action === 'kill' &&
      name === freeze?.name &&
      afterMs > freeze.afterMs &&
      afterMs < freeze.afterMs + freeze.forMs,
  );
  expect(whileFrozen).toEqual([]);
});

test('a schedule that spares the senders disturbs only the other processes and the database', () => {
  const schedule = makeSchedule({
    ...{ seed: 7, faults: 30, everyMs: 6_000, freezeMs: 60_000 },
    sendersLive: true,
  });
  expect(schedule.filter(({ name }) => name.startsWith('messages'))).toEqual([]);
  const actions = schedule.filter(({ name }) => name === 'postgres').map(({ action }) => action);
  expect(new Set(actions)).toEqual(new Set(['kill', 'freeze', 'cut', 'exhaust', 'poison']));
});

test('the bound counts what was on its way at each kill of messages, and without a journal what was not recorded', () => {
  const faults = [kill('gateway', 0), kill('messages', 0), kill('postgres', 0)];
  const happened = faults.map((fault) => ({ ...fault, connections: 16 }));
  expect(boundOf(happened, true)).toBe(16);
  expect(boundOf(happened, false)).toBe(16 + 800);
});

test('nobody gets a mail twice while the senders live, whatever the database does', async () => {
  const postgres = (action: Fault['action'], afterMs: number, forMs: number): Fault => ({
    ...{ name: 'postgres', action, afterMs, forMs },
  });
  const report = await chaos(3_000, [
    postgres('poison', 500, 2_000),
    kill('postgres', 3_000),
    postgres('cut', 6_500, 0),
    postgres('exhaust', 8_000, 6_000),
    postgres('freeze', 14_500, 5_000),
    kill('postgres', 21_000),
  ]);
  expect(report).toMatchObject({ twice: 0, lost: 0, problems: [], counts: { sent: 3_000 } });
}, 180_000);
