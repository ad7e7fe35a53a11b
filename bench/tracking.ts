import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import PostalMime from 'postal-mime';
import { Pool } from 'undici';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { givenBroadcast, givenTemplate, importAudience, isSent } from './broadcast.ts';
import { readPids, usageOf } from './processes.ts';

type Counts = { asked: number; good: number; bad: number };

const recipients = 1_000;
const callsPerSecond = 200;
const countedMsMax = 30_000;

/**
 * Opens and clicks at a rate, beside API calls at another: how long the calls take with and
 * without.
 */
export async function benchTracking(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      'hits-per-second': { type: 'string', default: '5000' },
      seconds: { type: 'string', default: '10' },
    },
  });
  const [perSecond, forMs] = [Number(values['hits-per-second']), Number(values.seconds) * 1_000];
  const stack = await startBenchStack({ bodies: recipients });
  const readers = fork(join(import.meta.dirname, 'readers.ts'));
  try {
    const { id, paths } = await givenMails(stack);
    const port = Number(new URL(stack.setting('BASE_URL')).port);
    const read = async (order: { perSecond: number; forMs: number }): Promise<Counts> => {
      const counted = once(readers, 'message');
      readers.send({ port, paths, ...order });
      const [counts] = await counted;
      return counts;
    };
    // Warm up before the measurement.
    await Promise.all([callApi(stack, forMs / 4), read({ perSecond, forMs: forMs / 4 })]);
    const alone = await callApi(stack, forMs);
    const before = usageOf(readPids(stack.folder));
    const [busy, counts] = await Promise.all([callApi(stack, forMs), read({ perSecond, forMs })]);
    const after = usageOf(readPids(stack.folder));
    await untilCounted(stack, id);
    console.log(`\n  hits: ${JSON.stringify(counts)}, ${counts.good / (forMs / 1_000)}/s answered`);
    console.log(`  API at ${callsPerSecond}/s   p50 ms   p99 ms`);
    for (const [name, times] of Object.entries({ 'without hits': alone, 'with hits': busy })) {
      console.log(
        `  ${name.padEnd(13)}${at(times, 0.5).padStart(9)}${at(times, 0.99).padStart(9)}`,
      );
    }
    console.log(`  p99 ratio ${(Number(at(busy, 0.99)) / Number(at(alone, 0.99))).toFixed(2)}`);
    for (const [name, { cpuMs }] of after) {
      const cores = (cpuMs - (before.get(name)?.cpuMs ?? 0)) / forMs;
      if (cores > 0.01) console.log(`  ${name.padEnd(20)}${cores.toFixed(2)} cores`);
    }
    if (counts.bad > 0 || counts.good < counts.asked) process.exitCode = 1;
  } finally {
    readers.disconnect();
    await stack.stop();
  }
}

/** A tracked broadcast, and the addresses of the pictures and links in its mails. */
async function givenMails(stack: BenchStack): Promise<{ id: string; paths: string[] }> {
  await importAudience(stack, recipients);
  await givenTemplate(stack);
  const id = await givenBroadcast(stack, 1);
  const schedule = { workspace_id: stack.workspaceId, id, send_now: true };
  await stack.api('broadcasts.schedule', { body: schedule });
  const calledAtMs = Date.now();
  while (!(await isSent(stack, id, calledAtMs))) await sleep(100);
  const mails = await Promise.all((await stack.sink.bodies()).map((raw) => PostalMime.parse(raw)));
  const found = mails.map(({ html = '' }) => [
    ...html.matchAll(/"(?:http:\/\/[^/]+)(\/[tr]\/[^"]+)"/g),
  ]);
  // Every reader opens, then every reader clicks the first link, and so on.
  const most = Math.max(...found.map((paths) => paths.length));
  const paths = Array.from({ length: most }, (_, at) =>
    found.flatMap((links) => links[at]?.[1] ?? []),
  );
  return { id, paths: paths.flat() };
}

/** Reads at a rate for some time; gives the latency of each answer in ms, in order. */
async function callApi({ workspaceId, setting }: BenchStack, forMs: number): Promise<number[]> {
  const pool = new Pool(setting('BASE_URL'), { connections: 64 });
  const path = `/api/lists.get?workspace_id=${workspaceId}&id=bench`;
  const headers = { authorization: `Bearer ${setting('TOKEN')}` };
  const times: number[] = [];
  const calls: Promise<void>[] = [];
  const call = async (): Promise<void> => {
    const startedAtMs = performance.now();
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
    const answer = await body.text();
    if (statusCode !== 200) throw new Error(`lists.get answered ${statusCode}: ${answer}`);
    times.push(performance.now() - startedAtMs);
  };
  const untilMs = performance.now() + forMs;
  for (let next = performance.now(); next < untilMs; next += 1_000 / callsPerSecond) {
    await sleep(Math.max(0, next - performance.now()));
    calls.push(call());
  }
  await Promise.all(calls);
  await pool.close();
  return times.toSorted((one, other) => one - other);
}

const at = (times: readonly number[], share: number): string =>
  (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(1);

type Numbers = { variation: { metrics?: { opens: number } } };

/** Every open has to be recorded in the end. */
async function untilCounted({ api, workspaceId }: BenchStack, id: string): Promise<void> {
  const query = { workspace_id: workspaceId, id };
  const giveUpAtMs = Date.now() + countedMsMax;
  for (;;) {
    const { broadcast } = await api<{
      broadcast: { test_settings: { variations: Numbers['variation'][] } };
    }>('broadcasts.get', { query });
    const opens = broadcast.test_settings.variations[0]?.metrics?.opens;
    if (opens === recipients) return;
    if (Date.now() > giveUpAtMs) throw new Error(`${opens} of ${recipients} opens are counted`);
    await sleep(100);
  }
}
