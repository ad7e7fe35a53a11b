import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../deploy/local/ports.ts';
import { type Postgres, startPostgres } from '../../deploy/local/postgres.ts';

/** What the run has started, for stop.ts. */
export const started: { postgres?: Postgres; folder?: string } = {};

/** Gives all tests of the run one PostgreSQL of their own, unless TEST_POSTGRES_URL names one. */
export default async function start(): Promise<void> {
  if (process.env.TEST_POSTGRES_URL) return;
  started.folder = mkdtempSync(join(tmpdir(), 'postrider-test-'));
  // Nothing here outlives the run, so nothing needs to reach the disk.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  started.postgres = await startPostgres({
    folder: started.folder,
    port: await freePort(),
    settings,
  });
  process.env.TEST_POSTGRES_URL = started.postgres.url;
  const { folder } = started;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
