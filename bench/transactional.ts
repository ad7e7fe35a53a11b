import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { givenBroadcast, givenTemplate, importAudience } from './broadcast.ts';
import { type Consumer, startConsumer } from './events.ts';
import { readPids, type Usage, usageOf } from './processes.ts';
import { givenReceipt, orderReceipt } from './receipt.ts';
import { ask } from './sink-process.ts';

type Bench = { stack: BenchStack; consumer: Consumer | undefined };

/**
 * Transactional mail of 10 KB, with history and events: closed loops of one and sixteen callers,
 * answered after commit, and an open loop from the request to the sink, alone and beside a
 * broadcast.
 */
export async function benchTransactional(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '15' },
      rate: { type: 'string', default: '700' },
      recipients: { type: 'string', default: '100000' },
      parts: { type: 'string', default: 'one,sixteen,keyed,open,beside' },
      'without-listener': { type: 'boolean', default: false },
    },
  });
  const seconds = Number(values.seconds);
  const perSecond = Number(values.rate);
  const recipients = Number(values.recipients);
  const consumer = values['without-listener'] ? undefined : await startConsumer();
  const stack = await startBenchStack({
    variables: consumer?.variables ?? {},
    keys: consumer?.keys,
  });
  const bench = { stack, consumer };
  const parts: Record<string, () => Promise<void>> = {
    one: () => closedLoop(bench, { name: 'one', callers: 1, seconds }),
    sixteen: () => closedLoop(bench, { name: 'sixteen', callers: 16, seconds }),
    keyed: () => closedLoop(bench, { name: 'keyed', callers: 16, seconds }),
    open: () => openLoop(bench, { name: 'open', perSecond, seconds }),
    beside: () => besideBroadcast(bench, { perSecond, seconds, recipients }),
  };
  try {
    await consumer?.listen(stack);
    await givenReceipt(stack);
    await closedLoop(bench, { name: 'warm', callers: 16, seconds: 30 });
    for (const part of values.parts.split(',')) await parts[part]?.();
  } finally {
    await stack.stop();
    consumer?.stop();
  }
}

type Caller = { call: (number: number) => Promise<number>; close: () => Promise<void> };

/** Calls with a recipient of their own; each answers in milliseconds. */
function openCaller(stack: BenchStack, name: string, connections: number): Caller {
  const pool = new Pool(stack.setting('BASE_URL'), { connections });
  const headers = {
    authorization: `Bearer ${stack.setting('TOKEN')}`,
    'content-type': 'application/json',
  };
  const call = async (number: number): Promise<number> => {
    const body = JSON.stringify({
      workspace_id: stack.workspaceId,
      notification: orderReceipt(`${name}${number}@example.com`, `${name}-${number}`),
    });
    const startedAtMs = performance.now();
    const path = '/api/transactional.send';
    const key = name === 'keyed' ? { 'idempotency-key': `${name}-${number}` } : {};
    const answer = await pool.request({
      path,
      method: 'POST',
      headers: { ...headers, ...key },
      body,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`send answered ${answer.statusCode}: ${text}`);
    return performance.now() - startedAtMs;
  };
  return { call, close: () => pool.close() };
}

async function closedLoop(
  bench: Bench,
  { name, callers, seconds }: { name: string; callers: number; seconds: number },
): Promise<void> {
  const { stack } = bench;
  const { call, close } = openCaller(stack, name, callers);
  const before = snapshot(bench);
  const startedAtMs = performance.now();
  const times: number[] = [];
  let next = 0;
  const loop = async () => {
    while (performance.now() - startedAtMs < seconds * 1_000) {
      next += 1;
      times.push(await call(next));
    }
  };
  await Promise.all(Array.from({ length: callers }, loop));
  const tookMs = performance.now() - startedAtMs;
  await untilArrived(stack, name, times.length);
  await close();
  const rate = ((times.length / tookMs) * 1_000).toFixed(0);
  console.log(
    `\n${name}: ${callers} callers, ${rate}/s answered after commit, ms ${shares(times)}`,
  );
  printCosts(bench, before, times.length);
}

type Open = { name: string; perSecond: number; seconds: number };

async function openLoop(bench: Bench, { name, perSecond, seconds }: Open): Promise<void> {
  const { stack } = bench;
  const { call, close } = openCaller(stack, name, 64);
  const before = snapshot(bench);
  const count = perSecond * seconds;
  const askedAtMs: number[] = [];
  const calls: Promise<number>[] = [];
  const startedAtMs = performance.now();
  for (let number = 0; number < count; number += 1) {
    const dueMs = startedAtMs + (number * 1_000) / perSecond;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await sleep(earlyMs);
    askedAtMs.push(Date.now());
    calls.push(call(number));
  }
  const answers = await Promise.all(calls);
  const arrivals = await untilArrived(stack, name, count);
  await close();
  const whole = askedAtMs.map(
    (atMs, number) => (arrivals[`${name}${number}@example.com`] ?? Number.POSITIVE_INFINITY) - atMs,
  );
  console.log(
    `\n${name}: ${perSecond}/s for ${seconds} s, request to sink ms ${shares(whole)}; answers ms ${shares(answers)}`,
  );
  printCosts(bench, before, count);
}

async function besideBroadcast(
  bench: Bench,
  { perSecond, seconds, recipients }: { perSecond: number; seconds: number; recipients: number },
): Promise<void> {
  const { stack } = bench;
  await importAudience(stack, recipients);
  await givenTemplate(stack);
  const id = await givenBroadcast(stack, 1);
  await stack.api('broadcasts.schedule', {
    body: { workspace_id: stack.workspaceId, id, send_now: true },
  });
  const { total } = await stack.sink.status();
  while ((await stack.sink.status()).total === total) await sleep(20);
  await openLoop(bench, { name: 'beside', perSecond, seconds });
  const sent = (await stack.sink.status()).total - total - perSecond * seconds;
  console.log(`  meanwhile the broadcast sent ${sent} of ${recipients}`);
}

/** When the mails to the addresses with a prefix arrived, by address. */
async function untilArrived(
  stack: BenchStack,
  prefix: string,
  count: number,
): Promise<Record<string, number>> {
  const giveUpAtMs = Date.now() + 60_000;
  for (;;) {
    const path = `/times?prefix=${prefix}`;
    const arrivals = await ask<Record<string, number>>(stack.sink.control, path);
    const arrived = Object.keys(arrivals).length;
    if (arrived >= count) return arrivals;
    if (Date.now() > giveUpAtMs) throw new Error(`${count - arrived} mails did not arrive`);
    await sleep(250);
  }
}

function shares(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, max ${at(1)}`;
}

function snapshot({ stack, consumer }: Bench): Map<string, Usage> {
  const listener: Record<string, number> = consumer ? { consumer: consumer.pid } : {};
  return usageOf({ ...readPids(stack.folder), ...listener, sink: stack.sink.pid });
}

/** CPU time a message, by process. */
function printCosts(bench: Bench, before: ReadonlyMap<string, Usage>, count: number): void {
  const costs = [...snapshot(bench)].map(([name, { cpuMs }]): [string, number] => [
    name,
    ((cpuMs - (before.get(name)?.cpuMs ?? 0)) / count) * 1_000,
  ]);
  const total = costs.reduce((sum, [, cost]) => sum + cost, 0);
  const texts = costs
    .filter(([, cost]) => cost >= 10)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, cost]) => `${name} ${cost.toFixed(0)}`);
  console.log(`  CPU µs a message: ${total.toFixed(0)} (${texts.join(', ')})`);
}
