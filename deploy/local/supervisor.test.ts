import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { startChild } from './child.ts';
import { createSupervisor, type StackPart, type Supervisor } from './supervisor.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-supervisor-'));
const said: string[] = [];
const seen = new Map<string, number[]>();
let pids: ReadonlyMap<string, number> = new Map();
/** Whether the list of processes can be written. */
let isFull = false;
let supervisor: Supervisor;

function fresh(): Supervisor {
  said.length = 0;
  seen.clear();
  isFull = false;
  supervisor = createSupervisor({
    logFor: (name) => (text) => said.push(`${name}: ${text}`),
    changed: (now) => {
      pids = new Map(now);
      for (const [name, pid] of now) seen.set(name, [...(seen.get(name) ?? []), pid]);
      if (isFull) throw new Error('no space left on device');
    },
    say: (line) => said.push(line),
  });
  return supervisor;
}
afterEach(() => supervisor.stop([...pids.keys()]));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function part(name: string, source: string): StackPart {
  const file = join(root, `${name}.mjs`);
  writeFileSync(file, source);
  const { env } = process;
  const args = [file];
  const command = process.execPath;
  return { name, start: (options) => startChild({ command, args, env, cwd: root }, options) };
}

const ready = `setInterval(() => {}, 1000); process.send('ready');`;

async function until(condition: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 15_000;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error('the condition never held');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a process that dies is restarted with a new pid', async () => {
  await fresh().start(part('steady', ready));
  const before = pids.get('steady')!;
  process.kill(before, 'SIGKILL');
  await until(() => said.includes('steady runs again'));
  expect(pids.get('steady')).not.toBe(before);
  expect(isAlive(pids.get('steady')!)).toBe(true);
});

test('with a full disk a process that dies is restarted, and stopped', async () => {
  await fresh().start(part('steady', ready));
  isFull = true;
  process.kill(pids.get('steady')!, 'SIGKILL');
  await until(() => said.includes('steady runs again'));
  const now = pids.get('steady')!;
  await supervisor.stop(['steady']);
  expect([isAlive(now), seen.get('steady')?.length]).toEqual([false, 2]);
  expect(said).toContain('the list of processes was not written: no space left on device');
});

/** Timers may fire that early. */
const timerMs = 10;

test('a process that keeps dying is restarted with growing delays', async () => {
  const times: number[] = [];
  const dying = part('dying', `process.send('ready'); setTimeout(() => process.exit(1), 50);`);
  const timed: StackPart = {
    name: 'dying',
    start: (options) => {
      times.push(Date.now());
      return dying.start(options);
    },
  };
  await fresh().start(timed);
  await until(() => times.length === 5);
  const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  // A wait has the life of the process before it as well, which is longer on a busy machine.
  const shorter = [0, 250, 500, 1_000].filter((least, at) => (waits[at] ?? 0) < least - timerMs);
  expect(shorter).toEqual([]);
});

test('a process that ends by an unhandled rejection logs the reason and is restarted', async () => {
  const source = `process.send('ready'); setTimeout(() => Promise.reject(new Error('refused')), 50);`;
  await fresh().start(part('rejecting', source));
  await until(() => said.includes('rejecting runs again'));
  expect(said.join('')).toContain('Error: refused');
});

test('stop ends all processes and restarts none', async () => {
  fresh();
  const stubborn = `process.on('SIGTERM', () => setTimeout(() => process.exit(0), 300)); ${ready}`;
  await Promise.all([part('one', ready), part('two', stubborn)].map(supervisor.start));
  const running = [...pids.values()];
  await supervisor.stop(['one', 'two']);
  expect(running.map(isAlive)).toEqual([false, false]);
  expect(pids.size).toBe(0);
});

test('stop in the middle of a start ends the process that is not ready yet', async () => {
  const started = fresh().start(part('slow', 'setInterval(() => {}, 1000);'));
  started.catch(() => {});
  await until(() => pids.has('slow'));
  const pid = pids.get('slow')!;
  await supervisor.stop(['slow']);
  await expect(started).rejects.toThrow('slow ended');
  expect(isAlive(pid)).toBe(false);
});

test('stop in the middle of a start ends the process that becomes ready meanwhile', async () => {
  const ending = Promise.withResolvers<void>();
  const starting = Promise.withResolvers<void>();
  const slow: StackPart = {
    name: 'slow',
    async start() {
      await starting.promise;
      return { pid: 0, exited: ending.promise, stop: async () => ending.resolve() };
    },
  };
  const started = fresh().start(slow);
  const stopped = supervisor.stop(['slow']);
  starting.resolve();
  await started;
  await stopped;
  await ending.promise;
});

test.each([
  ['throws', `throw new Error('no entry for this host')`, 'Error: no entry for this host'],
  [
    'fails where each of its addresses does',
    `throw new AggregateError([new Error('connect ECONNREFUSED ::1:9')])`,
    'Error: connect ECONNREFUSED ::1:9',
  ],
  [
    'logs why and ends',
    `console.log(JSON.stringify({ level: 60, msg: 'can not listen', err: { message: 'in use' } }));
     process.exit(1)`,
    'can not listen: in use',
  ],
  ['says nothing', 'process.exit(1)', 'quiet ended with 1 before it was ready'],
])('a part that %s is given up with what it said', async (_, source, reason) => {
  const started = fresh().start(part('quiet', source));
  await expect(started).rejects.toThrow(reason);
});

test('a part that cannot start fails with its reason', async () => {
  const started = fresh().start(part('broken', `console.log('no such thing'); process.exit(3)`));
  await expect(started).rejects.toThrow('broken ended with 3 before it was ready');
  expect(seen.get('broken')).toHaveLength(3);
  expect(said.join('')).toContain('no such thing');
});

test('a closed supervisor starts no other part, and the one that begins meanwhile can be stopped', async () => {
  const supervisor = fresh();
  const first = supervisor.start(part('first', ready));
  supervisor.close();
  await expect(supervisor.start(part('late', ready))).rejects.toThrow('late is not started');
  await first;
  await supervisor.stop(['first', 'late']);
  expect(isAlive(seen.get('first')?.[0] ?? 0)).toBe(false);
  expect(seen.get('late')).toBeUndefined();
});
