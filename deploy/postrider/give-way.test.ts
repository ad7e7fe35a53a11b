import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
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
