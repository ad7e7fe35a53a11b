import { Client } from 'pg';
import type { EventBatch } from '#lib/events/outbox.ts';
import { schemaOf } from '#lib/postgres/job-schema.ts';
import { eventFaults } from './event-faults.ts';

/**
 * Every event that a test publishes is checked against its contract, whatever becomes of its job: a
 * trigger keeps a copy of each batch, which is read when the database is closed. Services know
 * nothing of it.
 */

/** No service uses it: tests that look at all tables of a stack leave it out. */
export const keptSchema = 'test_events';

const keptTable = `${keptSchema}.batches`;
const shownMax = 10;

/** Has the database keep copies of what these services publish. */
export async function keepEvents(client: Client, services: readonly string[]): Promise<void> {
  await client.query(`
    create schema if not exists ${keptSchema};
    create table if not exists ${keptTable} (payload json not null);
    create or replace function ${keptSchema}.keep() returns trigger language plpgsql security definer as $$
    begin
      insert into ${keptTable} select payload from added where payload->>'batchId' is not null;
      return null;
    end
    $$`);
  for (const jobs of services.map(schemaOf)) {
    await client.query(`
      create trigger keep_events after insert on ${jobs}._private_jobs
      referencing new table as added for each statement execute function ${keptSchema}.keep()`);
  }
}

/** Fails if an event that was published since the last check breaks its contract. */
export async function checkEvents(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ payload: EventBatch }>(
      `delete from ${keptTable} returning payload`,
    );
    const faults = new Set(rows.flatMap(({ payload }) => batchFaults(payload)));
    if (faults.size === 0) return;
    const shown = [...faults].slice(0, shownMax).join('\n  ');
    throw new Error(`events that were published break their contracts:\n  ${shown}`);
  } finally {
    await client.end();
  }
}

const batchFaults = ({ types, data }: EventBatch) =>
  types.flatMap((type, place) => eventFaults(type, data[place] ?? ''));
