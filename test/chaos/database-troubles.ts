import pg from 'pg';
import type { Fault } from './schedule.ts';

type Trouble = (databaseUrl: string, over: () => Promise<void>) => Promise<void>;

/**
 * Faults of a running database, as messages sees it. Each resolves when the database works again.
 */
export const troubles: Record<Exclude<Fault['action'], 'kill' | 'freeze'>, Trouble> = {
  /** Ends every connection of messages, as a failover or a pooler does. */
  cut: (databaseUrl) =>
    asSuperuser(databaseUrl, async (client) => {
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'postrider-messages'",
      );
    }),
  /** Makes requests for permits wait, until they occupy every connection for it. */
  exhaust: (databaseUrl, over) =>
    asSuperuser(databaseUrl, async (client) => {
      await client.query('begin');
      await client.query('lock table messages.sending_rates in access exclusive mode');
      await over();
      await client.query('rollback');
    }),
  /** Refuses one outcome of a hundred for its values. */
  poison: (databaseUrl, over) =>
    asSuperuser(databaseUrl, async (client) => {
      await client.query(poisonSql);
      await over();
      await client.query('drop function messages.chaos_refuse() cascade');
    }),
};

const poisonSql = `
  drop function if exists messages.chaos_refuse() cascade;
  create function messages.chaos_refuse() returns trigger language plpgsql as $$
  begin
    if new.id::text like '00%' and new.status_info not like '%could not be stored' then
      raise exception 'invalid byte sequence' using errcode = '22021';
    end if;
    return new;
  end $$;
  create trigger chaos_refuse before update on messages.messages
    for each row execute function messages.chaos_refuse();`;

async function asSuperuser(
  connectionString: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString });
  // A kill of PostgreSQL meanwhile ends the fault as well.
  client.on('error', () => {});
  try {
    await client.connect();
    await work(client);
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

function isConnectionLost(error: unknown): boolean {
  const text =
    error instanceof Error ? `${'code' in error ? error.code : ''} ${error.message}` : '';
  return /^(?:57P|08|ECONN)|Connection terminated/.test(text.trim());
}
