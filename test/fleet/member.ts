import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../../deploy/local/child.ts';
import { nodeFlags } from '../../deploy/local/parts.ts';
import type { RunningPart } from '../../deploy/local/supervisor.ts';
import { causeOf } from './client.ts';

type Variables = Record<string, string>;

/**
 * One process of a fleet: a word of the program, its settings, and where its health is answered.
 */
export type MemberPlan = { name: string; word: string; env: Variables; healthPort: number };

/** How a process ended after SIGTERM. */
export type Ending = {
  name: string;
  /** Null if it was killed. */
  code: number | null;
  ms: number;
  /** Answers of `/readyz` from SIGTERM on, each change once: a status, or `closed`. */
  health: (number | 'closed')[];
  /** The last lines of the log of one that did not end well. */
  said: string[];
};

export type Member = MemberPlan & {
  pid: number;
  /** Sends SIGTERM and waits for the end. */
  end(): Promise<Ending>;
};

/** Many processes start at the same time, on a busy machine. */
const readyMsMax = 240_000;
const healthEveryMs = 5;
const healthMsMax = 1_000;
const saidMax = 5;
const saidCharsMax = 500;

/** Starts a process from the sources in `root`; resolves when it is ready. */
export async function startMember(
  plan: MemberPlan,
  { root, folder, spawned }: { root: string; folder: string; spawned(pid: number): void },
): Promise<Member> {
  const logFile = join(folder, 'logs', `${plan.name}.log`);
  const log = createWriteStream(logFile, { flags: 'a' });
  const { DATABASE_URL, SMTP_URL, SECRET_KEY, SERVICE_KEYS, ...inherited } = process.env;
  const running = await startChild(
    {
      command: process.execPath,
      args: [...nodeFlags, join(root, 'deploy/postrider/main.ts'), plan.word],
      // Of Jest, which sets them for modules of its own.
      env: { ...inherited, NODE_OPTIONS: '', NODE_ENV: '', ...plan.env },
      cwd: folder,
      readyMsMax,
    },
    { log: (text) => log.write(text), spawned, signal: new AbortController().signal },
  );
  return { ...plan, pid: running.pid, end: () => endOf(plan, running, logFile) };
}

async function endOf(
  { name, healthPort }: MemberPlan,
  running: RunningPart,
  logFile: string,
): Promise<Ending> {
  const startedAtMs = Date.now();
  const over = new AbortController();
  process.kill(running.pid, 'SIGTERM');
  const watching = watchHealth(healthPort, over.signal);
  const [code] = (await running.exited) as [number | null];
  over.abort();
  const said = code === 0 ? [] : lastLines(logFile);
  return { name, code, ms: Date.now() - startedAtMs, health: await watching, said };
}

function lastLines(file: string): string[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.slice(-saidMax).map((line) => line.slice(0, saidCharsMax));
}

async function watchHealth(port: number, over: AbortSignal): Promise<Ending['health']> {
  const seen: Ending['health'] = [];
  while (!over.aborted) {
    const now = await readiness(port);
    if (now !== undefined && seen.at(-1) !== now) seen.push(now);
    await sleep(healthEveryMs);
  }
  return seen;
}

/** Undefined if a busy process does not answer in time. */
async function readiness(port: number): Promise<number | 'closed' | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(healthMsMax),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch (error) {
    return causeOf(error) === 'ECONNREFUSED' ? 'closed' : undefined;
  }
}
