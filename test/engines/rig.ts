import { appendFileSync, chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFree } from '../../deploy/local/ports.ts';
import { createSupervisor, type StackPart } from '../../deploy/local/supervisor.ts';

type Say = (line: string) => unknown;

/** Where an engine runs, and what was found. */
export type Rig = {
  folder: string;
  say: Say;
  /** Runs a process, and starts it again when it ends. */
  start(part: StackPart): Promise<void>;
  /** kill -9; false if no process has this name. */
  kill(name: string): boolean;
  /** The output of a process. */
  logOf(name: string): string;
  /** Runs at the end, the latest first. */
  atEnd(work: () => Promise<unknown>): void;
  /** Prints a line: whether something holds, and what was seen. */
  check(what: string, work: () => Promise<string>): Promise<void>;
};

export type Verdict = { failed: number; passed: number };

const nameWidth = 12;

/** Runs the checks of an engine in a folder of its own, which is removed at the end. */
export async function withRig(name: string, work: (rig: Rig) => Promise<void>): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-engine-'));
  // As root, PostgreSQL and pgbouncer run as other accounts, which need access.
  chmodSync(folder, 0o711);
  const { say, print, check, verdict } = reporterOf(name);
  const ends: (() => Promise<unknown>)[] = [];
  const end = async () => {
    for (const each of ends.splice(0).reverse()) await each().catch((error) => say(String(error)));
    rmSync(folder, { recursive: true, force: true });
  };
  // Processes of a rig have groups of their own: Ctrl-C does not reach them.
  const stop = () => void end().then(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await work({
      ...processesIn(folder, say, ends),
      folder,
      say,
      check,
      atEnd: (work) => ends.push(work),
    });
  } catch (error) {
    print('FAIL', lastLine(error));
  } finally {
    await end();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  return verdict;
}

function reporterOf(name: string) {
  const verdict: Verdict = { failed: 0, passed: 0 };
  const say: Say = (line) => process.stderr.write(`     ${name.padEnd(nameWidth)}${line}\n`);
  const print = (word: 'ok' | 'FAIL', line: string): void => {
    verdict[word === 'ok' ? 'passed' : 'failed'] += 1;
    process.stdout.write(`${word.padEnd(5)}${name.padEnd(nameWidth)}${line}\n`);
  };
  const check: Rig['check'] = async (what, look) => {
    try {
      const seen = await look();
      print('ok', `${what}${seen === '' ? '' : `: ${seen}`}`);
    } catch (error) {
      print('FAIL', `${what}: ${lastLine(error)}`);
    }
  };
  return { say, print, check, verdict };
}

/** A stack that does not start says why in its last line. */
function lastLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split('\n').at(-1) ?? '';
}

function processesIn(folder: string, say: Say, ends: (() => Promise<unknown>)[]) {
  const fileOf = (name: string) => join(folder, `${name}.log`);
  let pids: ReadonlyMap<string, number> = new Map();
  const supervisor = createSupervisor({
    logFor: (name) => (text) => appendFileSync(fileOf(name), text),
    changed: (now) => {
      pids = now;
    },
    say,
  });
  return {
    start: async (part: StackPart) => {
      await supervisor.start(part);
      ends.push(() => supervisor.stop([part.name]));
    },
    kill: (name: string) => {
      const pid = pids.get(name);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      return pid !== undefined;
    },
    logOf: (name: string) => readFileSync(fileOf(name), 'utf8'),
  };
}

/** Below the ephemeral ports, and below those of stacks. */
const [lowest, highest] = [10_000, 11_900];

/** Finds `count` free ports in a row. */
export async function freePorts(count: number): Promise<number[]> {
  for (let first = lowest; first < highest; first += count) {
    const ports = Array.from({ length: count }, (_, at) => first + at);
    if ((await Promise.all(ports.map((port) => isFree(port)))).every(Boolean)) return ports;
  }
  throw new Error('no free ports were found');
}
