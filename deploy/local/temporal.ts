import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { giveWay } from '../postrider/give-way.ts';
import { startChild } from './child.ts';
import type { StackPart } from './supervisor.ts';

export type TemporalOptions = { program: string; folder: string; port: number; uiPort: number };

export const temporalNamespace = 'default';
const answerMsMax = 60_000;
const retryMs = 100;

/** The development server: one process, state in one SQLite file, with the UI. */
export function temporalPart({ program, folder, port, uiPort }: TemporalOptions): StackPart {
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'];
  args.push('--port', String(port), '--ui-port', String(uiPort));
  args.push('--db-filename', join(folder, 'temporal.db'));
  // The default journal costs five times the throughput; this one survives a kill as well.
  args.push('--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal');
  return {
    name: 'temporal',
    start: (options) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // The program reads the user's configuration, which must not change this server.
      const env = { PATH: process.env.PATH, HOME: folder };
      const answers = (): Promise<void> => prepareTemporal(`127.0.0.1:${port}`);
      // Its workflows wait for minutes and days.
      const spawned = (pid: number) => {
        giveWay(pid, constants.priority.PRIORITY_BELOW_NORMAL);
        options.spawned(pid);
      };
      const child = { command: program, args, env, cwd: folder, answers };
      return startChild(child, { ...options, spawned });
    },
  };
}

/**
 * Waits until the server answers and has its namespace. The worker registers the search attributes.
 */
export async function prepareTemporal(address: string): Promise<void> {
  const giveUpAt = Date.now() + answerMsMax;
  for (;;) {
    try {
      return await findNamespace(address);
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await sleep(retryMs);
    }
  }
}

async function findNamespace(address: string): Promise<void> {
  // Loaded here because it takes half a second, in which other parts start.
  const { Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    await connection.workflowService.describeNamespace({ namespace: temporalNamespace });
  } finally {
    await connection.close();
  }
}
