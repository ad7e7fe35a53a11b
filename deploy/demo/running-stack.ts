import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readEnv } from '#lib/config.ts';
import { readDataFolder } from '../local/stack-config.ts';

const root = resolve(import.meta.dirname, '../..');

export type StackSettings = Record<string, string>;
export type RunningStack = { settings: StackSettings; stop?: () => Promise<void> };

/** The running stack, or a new one; only a new one has a `stop`. */
export async function runningStack(): Promise<RunningStack> {
  const folder = resolve(root, readEnv(process.env, readDataFolder));
  const known = readSettings(folder);
  if (known && (await answers(known))) return { settings: known };
  const child = fork(join(root, 'deploy/local/main.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const outcome = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => 'exit'),
  ]);
  if (outcome === 'exit') throw new Error('the local stack did not start');
  const settings = readSettings(folder);
  if (!settings) throw new Error(`the local stack wrote no settings to ${folder}`);
  return { settings, stop: () => stop(child) };
}

function readSettings(folder: string): StackSettings | undefined {
  try {
    const lines = readFileSync(join(folder, 'env'), 'utf8').trim().split('\n');
    return Object.fromEntries(
      lines.map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
    );
  } catch {
    return undefined;
  }
}

async function answers({ BASE_URL = '' }: StackSettings): Promise<boolean> {
  try {
    return (await fetch(`${BASE_URL}/healthz`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
