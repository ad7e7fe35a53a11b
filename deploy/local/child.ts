import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { crashText } from './log-file.ts';
import type { RunningPart, StartOptions } from './supervisor.ts';

export type ChildOptions = {
  command: string;
  args: string[];
  env: Record<string, string | undefined>;
  cwd: string;
  /** Resolves when the process answers; without it the process prints `ready` itself. */
  answers?: () => Promise<void>;
  /** After this long without being ready it is killed. */
  readyMsMax?: number;
};

const readyMsDefault = 60_000;
/** A little longer than a process gives itself to finish what it has begun. */
const stopMsMax = 40_000;
const saidCharsMax = 8_000;
const lastWordsMsMax = 500;

/**
 * Starts a process in its own group, so that Ctrl-C reaches only the supervisor, which stops the
 * parts in order.
 */
export async function startChild(options: ChildOptions, start: StartOptions): Promise<RunningPart> {
  const { command, args, env, cwd } = options;
  const child = spawn(command, args, {
    env,
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let said = '';
  const hear = (text: string) => {
    said = (said + text).slice(-saidCharsMax);
    start.log(text);
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', hear);
  }
  const closed = once(child, 'close').catch(() => {});
  const exited = Promise.race([once(child, 'exit'), once(child, 'error')]).catch((error) => [
    error,
  ]);
  if (child.pid !== undefined) start.spawned(child.pid);
  const kill = (): unknown => child.kill('SIGTERM');
  start.signal.addEventListener('abort', kill, { once: true });
  try {
    await ready(child, exited, options);
  } catch (error) {
    // Its last output may still be in the pipe.
    await Promise.race([closed, sleep(lastWordsMsMax)]);
    const reason = crashText(said);
    throw reason && error instanceof Error ? new Error(`${error.message}: ${reason}`) : error;
  } finally {
    start.signal.removeEventListener('abort', kill);
  }
  return { pid: child.pid ?? 0, exited, stop: () => stop(child, exited) };
}

async function ready(
  child: ChildProcess,
  exited: Promise<unknown[]>,
  { answers, readyMsMax = readyMsDefault }: ChildOptions,
): Promise<void> {
  const late = setTimeout(() => child.kill('SIGKILL'), readyMsMax);
  const ended = exited.then(([how]) => {
    const text = how instanceof Error ? `could not be run: ${how.message}` : `ended with ${how}`;
    throw new Error(`${text} before it was ready`);
  });
  try {
    await Promise.race([answers ? answers() : saysReady(child), ended]);
  } finally {
    clearTimeout(late);
  }
}

async function saysReady(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  child.on('message', (message) => {
    if (message === 'ready') resolve();
  });
  await promise;
}

async function stop(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), stopMsMax);
  await exited;
  clearTimeout(late);
}
