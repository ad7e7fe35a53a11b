import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../deploy/local/ports.ts';
import type { Arrival } from './checker.ts';

/** An endpoint that can be killed and comes back at its address. */
export async function startEndpoint(file: string, latencyMs: number) {
  const port = await freePort();
  const start = async (): Promise<ChildProcess> => {
    const program = join(import.meta.dirname, 'endpoint-process.ts');
    const child = fork(program, [String(port), file, String(latencyMs)]);
    await once(child, 'message');
    return child;
  };
  let child = await start();
  return {
    urlOf: (path: string) => `http://127.0.0.1:${port}${path}`,
    arrivals(): Arrival[] {
      if (!existsSync(file)) return [];
      const lines = readFileSync(file, 'utf8').trim().split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
    },
    /** kill -9, and back when `over` resolves. */
    async kill(over: () => Promise<void>): Promise<void> {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
      await over();
      child = await start();
    },
    stop: () => child.disconnect(),
  };
}

export type Endpoint = Awaited<ReturnType<typeof startEndpoint>>;
