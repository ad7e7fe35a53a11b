import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writePrivately } from '../private-file.ts';

/** A process and its start time: a pid alone may have been reused. */
type Process = { pid: number; began: string };
type Lock = { holder: Process; processes: Record<string, Process> };

const endMsMax = 15_000;

/**
 * Makes this process the only one that runs a stack on the folder, and ends processes that a killed
 * one left.
 */
export async function takeLock(folder: string): Promise<void> {
  const file = join(folder, 'lock');
  const left = readLock(file);
  if (left && isAlive(left.holder)) {
    throw new Error(`Postrider runs already on ${folder} (process ${left.holder.pid}).`);
  }
  if (left) await endAll(left.processes);
  rmSync(file, { force: true });
  const lock: Lock = { holder: describe(process.pid), processes: {} };
  // Fails if another process was first.
  writeFileSync(file, JSON.stringify(lock), { mode: 0o600, flag: 'wx' });
}

/** Records the running processes: `pids` for tools, the lock for a start after a kill. */
export function recordProcesses(folder: string, pids: ReadonlyMap<string, number>): void {
  const processes = Object.fromEntries([...pids].map(([name, pid]) => [name, describe(pid)]));
  const lock: Lock = { holder: describe(process.pid), processes };
  writePrivately(join(folder, 'lock'), JSON.stringify(lock));
  const named = { supervisor: process.pid, ...Object.fromEntries(pids) };
  writePrivately(join(folder, 'pids'), `${JSON.stringify(named, null, 2)}\n`);
}

export function releaseLock(folder: string): void {
  for (const name of ['lock', 'pids']) rmSync(join(folder, name), { force: true });
}

function readLock(file: string): Lock | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

async function endAll(processes: Record<string, Process>): Promise<void> {
  const alive = Object.entries(processes).filter(([, each]) => isAlive(each));
  for (const [name, { pid }] of alive) {
    // All of them survive a kill; PostgreSQL restarts faster after an orderly shutdown.
    process.kill(pid, name === 'postgres' ? 'SIGINT' : 'SIGKILL');
  }
  const giveUpAt = Date.now() + endMsMax;
  for (const [name, each] of alive) {
    while (isAlive(each) && Date.now() < giveUpAt) await sleep(50);
    if (isAlive(each)) throw new Error(`${name} of an earlier start (${each.pid}) does not end`);
  }
}

function isAlive({ pid, began }: Process): boolean {
  return began !== '' && describe(pid).began === began;
}

/** `began` is empty if the process is gone. */
function describe(pid: number): Process {
  try {
    if (process.platform === 'linux') {
      // The name, in brackets, may contain spaces; the state is the first field after it.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return { pid, began: fields[0] === 'Z' ? '' : (fields[19] ?? '') };
    }
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return { pid, began: stdout.trim() };
  } catch {
    return { pid, began: '' };
  }
}
