import { ConnectError } from '@connectrpc/connect';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { noLimits, RequestLimits } from './request-limits.ts';
import { SharedUsage } from './share-usage.ts';

let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000_000;
});

// Most of the requests here are refused, and nobody reads where.
const { stackTraceLimit } = Error;
Error.stackTraceLimit = 0;
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

const rates = { ...noLimits, key: 100, address: 100 };
const given = () => new RequestLimits(rates, () => nowMs);

/** Requests at one moment; the number that is let through. */
function ask(limits: RequestLimits, times: number, key = 'k'): number {
  let through = 0;
  for (let each = 0; each < times; each += 1) {
    try {
      limits.take('key', key);
      through += 1;
    } catch {
      // Refused.
    }
  }
  return through;
}

test('a key has its rate and twice as many at once, and then an error that says when to come again', () => {
  const limits = given();
  expect(ask(limits, 500)).toBe(200);
  nowMs += 1_000;
  expect(ask(limits, 500)).toBe(100);
  expect(ask(limits, 500, 'other')).toBe(200);
  const refused = ConnectError.from(
    (() => {
      try {
        limits.take('key', 'k');
        return undefined;
      } catch (error) {
        return error;
      }
    })(),
  );
  expect(Object.fromEntries(refused.metadata)).toEqual({
    'ratelimit-policy': '"key";q=200;w=2',
    ratelimit: '"key";r=0;t=1',
  });
  expect(refused.details[0]).toMatchObject({ value: { retryDelay: { nanos: 10_000_000 } } });
});

test('a network of IPv6 is one address', () => {
  const limits = given();
  for (let each = 0; each < 200; each += 1) limits.take('address', `2001:db8::${each}`);
  expect(() => limits.take('address', '2001:db8::ffff')).toThrow('too many requests');
  limits.take('address', '2001:db8:0:1::1');
});

test('a rate of zero is no limit', () => {
  expect(ask(new RequestLimits(noLimits), 100_000)).toBe(100_000);
});

test('keys that are not used any more are forgotten, and the counts of a report are bounded', () => {
  const limits = given();
  for (let each = 0; each < 50_000; each += 1) limits.take('key', String(each));
  expect(limits.buckets.get('key')?.takeUsage().size).toBeLessThanOrEqual(20_000);
});

/** As workspaces adds up. */
function givenLedger() {
  const totals = new Map<string, bigint>();
  const state = { isAway: false, reports: 0, largest: 0 };
  const report = async (usage: readonly { key: string; count: number }[]) => {
    if (state.isAway) throw new Error('away');
    state.reports += 1;
    state.largest = Math.max(state.largest, usage.length);
    return usage.map(({ key, count }) => {
      const total = (totals.get(key) ?? 0n) + BigInt(count);
      totals.set(key, total);
      return total;
    });
  };
  return { state, report };
}

/** The requests that each process admits when each gets its own rate, ten times a second. */
async function run(
  processes: { limits: RequestLimits; shared: SharedUsage; perSecond: number }[],
  seconds: number,
): Promise<number[]> {
  const through = processes.map(() => 0);
  for (let second = 0; second < seconds; second += 1) {
    for (let tenth = 0; tenth < 10; tenth += 1) {
      nowMs += 100;
      processes.forEach(({ limits, perSecond }, at) => {
        through[at] = (through[at] ?? 0) + ask(limits, perSecond / 10);
      });
    }
    for (const { shared } of processes) await shared.exchange(1_000).catch(() => {});
  }
  return through;
}

function givenProcesses(perSecond: number[]) {
  const ledger = givenLedger();
  const processes = perSecond.map((each) => {
    const limits = given();
    return { limits, shared: new SharedUsage(limits, ledger.report), perSecond: each };
  });
  return { ledger, processes };
}

test('processes keep a limit together, and each goes on', async () => {
  const { processes } = givenProcesses([1_000, 1_000, 1_000]);
  // The bursts, and the seconds until they know of each other.
  await run(processes, 10);
  const through = await run(processes, 60);
  const all = through.reduce((sum, each) => sum + each, 0);
  expect(all).toBeGreaterThan(0.8 * 60 * 100);
  expect(all).toBeLessThan(1.25 * 60 * 100);
  for (const each of through) expect(each).toBeGreaterThan(0.2 * 60 * 100);
});

test('a process with few requests keeps them beside one with many', async () => {
  const { processes } = givenProcesses([20, 1_000]);
  await run(processes, 10);
  const [few = 0] = await run(processes, 30);
  expect(few).toBeGreaterThan(0.9 * 30 * 20);
});

test('processes that are below a limit together are not limited, and what is used little is not reported', async () => {
  const { ledger, processes } = givenProcesses([30, 30]);
  expect(await run(processes, 20)).toEqual([600, 600]);
  const quiet = givenProcesses([10]);
  quiet.processes[0]?.limits.take('key', 'seldom');
  await run([{ ...quiet.processes[0]!, perSecond: 0 }], 2);
  expect(quiet.ledger.state.reports).toBe(0);
  expect(ledger.state.reports).toBe(40);
});

test('without answers each process goes on with its share', async () => {
  const { ledger, processes } = givenProcesses([1_000, 1_000]);
  await run(processes, 20);
  ledger.state.isAway = true;
  const through = await run(processes, 20);
  expect(through.reduce((sum, each) => sum + each, 0)).toBeLessThan(1.3 * 20 * 100);
  for (const each of through) expect(each).toBeGreaterThan(0.3 * 20 * 100);
});

test('a report has at most 500 keys, those that are nearest to their limits', async () => {
  const { ledger, processes } = givenProcesses([0]);
  const [{ limits, shared }] = processes as [(typeof processes)[number]];
  for (let each = 0; each < 2_000; each += 1) ask(limits, 10, `key ${each}`);
  await shared.exchange(1_000);
  expect(ledger.state.largest).toBe(500);
});
