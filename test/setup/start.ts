import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../../deploy/local/ports.ts';
import { type Postgres, startPostgres } from '../../deploy/local/postgres.ts';
import { temporalTestProgram } from '../../deploy/local/temporal-programs.ts';
import { hasChromium, noChromium } from '../contract/chromium.ts';

/** The servers of the run, which stop.ts ends. */
export const started: { postgres?: Postgres; folder?: string } = {};

/** Sets TEST_POSTGRES_URL and TEMPORAL_TEST_SERVER for all tests, where they aren't set already. */
export default async function start(): Promise<void> {
  provideFolder();
  // The first test of a worker that needs a whole stack starts it (test/stack/shared.ts).
  process.env.TEST_STACK_FOLDER = join(tmpdir(), 'stack');
  process.env.TEST_RUN_PID = String(process.pid);
  // Of all stacks of all runs.
  process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, '../../.postrider/compiled');
  if (!hasChromium) process.stderr.write(`${noChromium}\n`);
  await Promise.all([providePostgres(), provideTemporal()]);
}

/** A folder for the temporary files of all tests and programs: it goes with the run. */
function provideFolder(): void {
  started.folder = mkdtempSync(join(tmpdir(), 'postrider-test-'));
  // Servers have accounts of their own, as in any such folder.
  chmodSync(started.folder, 0o1777);
  process.env.TMPDIR = started.folder;
}

/** One PostgreSQL for the whole run. */
async function providePostgres(): Promise<void> {
  if (process.env.TEST_POSTGRES_URL) return;
  started.postgres = await startPostgres({
    folder: join(tmpdir(), 'postgres'),
    port: await freePort(),
    settings: {
      // Nothing here outlives the run, so durability is not needed.
      ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
      // By default it looks every minute at each database, of which the run makes hundreds.
      autovacuum_naptime: '10min',
    },
  });
  process.env.TEST_POSTGRES_URL = started.postgres.url;
}

/** Tests that need no Temporal run without it; those that do fail on the missing variable. */
async function provideTemporal(): Promise<void> {
  if (process.env.TEMPORAL_TEST_SERVER) return;
  const say = (line: string): unknown => process.stderr.write(`${line}\n`);
  try {
    process.env.TEMPORAL_TEST_SERVER = await temporalTestProgram(say);
  } catch (error) {
    say(`Workflow tests will fail: ${error instanceof Error ? error.message : error}`);
  }
}
