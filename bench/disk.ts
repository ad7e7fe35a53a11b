import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { startBenchStack } from './bench-stack.ts';
import { givenBroadcast, givenTemplate, importAudience, isSent } from './broadcast.ts';
import { openDatabase } from './webhooks/database.ts';

const pollMs = 500;

type Stored = { tables: Map<string, number>; walBytes: number };

/**
 * Measures what a contact and a message take on disk, with their indexes, and in the write-ahead
 * log. Independent of the machine's speed.
 */
export async function benchDisk(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { recipients: { type: 'string', default: '20000' } },
  });
  const recipients = Number(values.recipients);
  const stack = await startBenchStack();
  try {
    const database = await openDatabase(stack);
    const empty = await readStored(database);
    await importAudience(stack, recipients);
    const imported = await readStored(database);
    print('a contact with a membership', { before: empty, after: imported, recipients });
    await givenTemplate(stack);
    const id = await givenBroadcast(stack, 1);
    const schedule = { workspace_id: stack.workspaceId, id, send_now: true };
    await stack.api('broadcasts.schedule', { body: schedule });
    const calledAtMs = Date.now();
    while (!(await isSent(stack, id, calledAtMs))) await sleep(pollMs);
    const sent = await readStored(database);
    print('a message of a broadcast', { before: imported, after: sent, recipients });
    await database.end();
  } finally {
    await stack.stop();
  }
}

async function readStored(database: Client): Promise<Stored> {
  // Full pages are logged once after each checkpoint, so that the figure is that of a busy hour.
  await database.query('checkpoint');
  const sizes = await database.query<{ name: string; bytes: string }>(
    `select schemaname || '.' || relname as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables`,
  );
  const wal = await database.query<{ bytes: string }>(
    "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes",
  );
  return {
    tables: new Map(sizes.rows.map(({ name, bytes }) => [name, Number(bytes)])),
    walBytes: Number(wal.rows[0]?.bytes),
  };
}

type Step = { before: Stored; after: Stored; recipients: number };

function print(what: string, { before, after, recipients }: Step): void {
  console.log(`\n${what}, bytes:`);
  let all = 0;
  for (const [name, bytes] of after.tables) {
    const each = (bytes - (before.tables.get(name) ?? 0)) / recipients;
    all += each;
    if (each >= 1) console.log(`  ${name.padEnd(32)}${each.toFixed(0).padStart(8)}`);
  }
  console.log(`  ${'on disk'.padEnd(32)}${all.toFixed(0).padStart(8)}`);
  const wal = (after.walBytes - before.walBytes) / recipients;
  console.log(`  ${'write-ahead log'.padEnd(32)}${wal.toFixed(0).padStart(8)}`);
}
