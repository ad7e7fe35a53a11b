import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until.ts';

export type Processes = {
  pid(name: string): number;
  names(): string[];
  /** kill -9; PostgreSQL with all its children, as at a power failure. */
  kill(name: string): void;
  freeze(name: string): void;
  thaw(name: string): void;
  /** Resolves when the supervisor has replaced the process `oldPid` of this name. */
  untilReplaced(name: string, oldPid: number): Promise<void>;
  /** Kills the processes and keeps the supervisor from restarting them until `work` is done. */
  without<T>(names: string[], work: () => Promise<T>): Promise<T>;
};

/** The processes of a stack, by their names in its `pids` file. */
export function processesOf(folder: string): Processes {
  const read = (): Record<string, number> => JSON.parse(readFileSync(join(folder, 'pids'), 'utf8'));
  const pid = (name: string): number => {
    const found = read()[name];
    if (found === undefined) throw new Error(`no process is called ${name}`);
    return found;
  };
  const signal = (name: string, word: NodeJS.Signals): void => {
    const main = pid(name);
    const all = name === 'postgres' ? [main, ...childrenOf(main)] : [main];
    for (const each of all) send(each, word);
  };
  const processes: Processes = {
    pid,
    names: () => Object.keys(read()),
    kill: (name) => signal(name, 'SIGKILL'),
    freeze: (name) => signal(name, 'SIGSTOP'),
    thaw: (name) => signal(name, 'SIGCONT'),
    untilReplaced: (name, oldPid) =>
      until(`${name} is started again`, async () => pid(name) !== oldPid),
    async without(names, work) {
      const old = names.map((name) => ({ name, pid: pid(name) }));
      signal('supervisor', 'SIGSTOP');
      try {
        for (const name of names) signal(name, 'SIGKILL');
        return await work();
      } finally {
        signal('supervisor', 'SIGCONT');
        for (const { name, pid: oldPid } of old) await processes.untilReplaced(name, oldPid);
      }
    },
  };
  return processes;
}

/** A process that has just ended needs no signal. */
function send(pid: number, word: NodeJS.Signals): void {
  try {
    process.kill(pid, word);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ESRCH';
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    // The name, in brackets, may contain spaces; the parent is the second field after it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
    return Number(stat.split(' ')[1]);
  } catch {
    return undefined;
  }
}
