import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createApi, type DemoApi } from '../deploy/demo/api.ts';
import { keepKeys, keysFile } from '../deploy/keys/file.ts';
import type { Installation } from '../deploy/keys/installation.ts';
import { ask, end, type SinkOptions, type SinkStatus, startSink } from './sink-process.ts';

const root = resolve(import.meta.dirname, '..');
const portBase = process.env.BENCH_PORT ?? '5400';

export type BenchStack = {
  api: DemoApi;
  workspaceId: string;
  /** A value of the stack's `env` file. */
  setting(name: string): string;
  folder: string;
  sink: {
    pid: number;
    port: number;
    control: number;
    status(): Promise<SinkStatus>;
    /** Counts from nothing. */
    reset(): Promise<SinkStatus>;
    bodies(): Promise<string[]>;
  };
  stop(): Promise<void>;
};

type Options = SinkOptions & {
  /** Settings of the stack. */
  variables?: Record<string, string>;
  /** Its keys, in place of fresh ones. */
  keys?: Installation | undefined;
};

/** Benchmarks measure how much there is, not how much one tenant may have. */
const withoutRequestLimits = {
  REQUESTS_PER_SECOND_OF_KEY: '0',
  REQUESTS_PER_SECOND_OF_WORKSPACE: '0',
  REQUESTS_PER_SECOND_OF_ADDRESS: '0',
};

/**
 * A stack of its own in a folder that goes away, mailing into a fast sink in a process of its own.
 */
export async function startBenchStack(options: Options = {}): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-bench-'));
  if (options.keys) keepKeys(keysFile(folder), options.keys);
  const sink = await startSink(options);
  const stack = fork(join(root, 'deploy/local/main.ts'), {
    env: {
      ...process.env,
      POSTRIDER_DATA: folder,
      POSTRIDER_PORT: portBase,
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      LOG_LEVEL: 'warn',
      BUILD_GUIDE: 'false',
      ...withoutRequestLimits,
      ...options.variables,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const started = await Promise.race([
    once(stack, 'message'),
    once(stack, 'exit').then(() => 'exit'),
  ]);
  if (started === 'exit') {
    await end(sink.child);
    throw new Error('the stack did not start');
  }
  const settings = readFileSync(join(folder, 'env'), 'utf8');
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(settings)?.[1] ?? '';
  return {
    api: createApi(setting('BASE_URL'), setting('TOKEN')),
    workspaceId: setting('WORKSPACE_ID'),
    setting,
    folder,
    sink: {
      pid: sink.child.pid ?? 0,
      port: sink.port,
      control: sink.control,
      status: () => ask<SinkStatus>(sink.control, '/status'),
      reset: () => ask<SinkStatus>(sink.control, '/reset'),
      bodies: () => ask<string[]>(sink.control, '/bodies'),
    },
    async stop() {
      await end(stack);
      await end(sink.child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
