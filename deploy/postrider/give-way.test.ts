import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { giveWay } from './give-way.ts';

const { PRIORITY_BELOW_NORMAL: lower, PRIORITY_LOW: lowest } = constants.priority;
const groups = '/proc/self/autogroup';
const hasGroups = existsSync(groups);
const niceOf = (pid: number | string) =>
  Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1]);

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) process.kill(pid, 'SIGKILL');
});

function given(options: { detached: boolean }): number {
  const { pid } = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], options);
  if (pid === undefined) throw new Error('no process');
  started.push(pid);
  return pid;
}

test('a process gives way, and one that gave more way stays as it is', () => {
  const pid = given({ detached: true });
  giveWay(pid, lower);
  expect(getPriority(pid)).toBe(lower);
  giveWay(pid, lowest);
  giveWay(pid, lower);
  expect(getPriority(pid)).toBe(lowest);
});

(platform() === 'linux' ? test : test.skip)('all threads of a process give way', async () => {
  const pid = given({ detached: true });
  const threads = () => readdirSync(`/proc/${pid}/task`).map(Number);
  while (threads().length < 3) await sleep(10);
  giveWay(pid, lower);
  expect([...new Set(threads().map(getPriority))]).toEqual([lower]);
});

(hasGroups ? test : test.skip)(
  'a session gives way with the process that leads it, and not with another',
  () => {
    const before = niceOf('self');
    const pid = given({ detached: true });
    giveWay(pid, lower);
    expect(niceOf(pid)).toBe(lower);
    giveWay(given({ detached: false }), lower);
    expect(niceOf('self')).toBe(before);
    giveWay(pid, lowest);
    giveWay(pid, lower);
    expect(niceOf(pid)).toBe(lowest);
  },
);
