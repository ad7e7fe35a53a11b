import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

export type SinkStatus = {
  total: number;
  recipients: number;
  /** Of the first mail since the last reset, and of the last one. */
  first_at_ms: number;
  received_at_ms: number;
};

export type SinkOptions = {
  behaviour?: { latencyMs?: number; rcptLatencyMs?: number };
  /** How many of the last mails it keeps whole. */
  bodies?: number;
};

/**
 * Without it V8 collects all of the sink's heap after each 64 MiB that sockets have read, some
 * 5,000 mails: a third of its processor time, which is none of a mail server's.
 */
const nodeFlags = ['--external-memory-accounted-in-global-limit'];

/** The sink of the tests in a process of its own. */
export async function startSink({ behaviour = {}, bodies = 0 }: SinkOptions) {
  const args = ['--behaviour', JSON.stringify(behaviour), '--bodies', String(bodies)];
  const child = spawn(process.execPath, [...nodeFlags, join(root, 'test/sink.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { port, control } = JSON.parse(String(line)) as { port: number; control: number };
  return { child, port, control };
}

export async function ask<Answer>(port: number, path: string): Promise<Answer> {
  return (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as Answer;
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
