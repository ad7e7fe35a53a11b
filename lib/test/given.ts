import { Migration } from '@mikro-orm/migrations';
import { consumedTable } from '#lib/events/consume.ts';
import { attemptsTable } from '#lib/postgres/attempts.ts';
import { query } from '#lib/postgres/query.ts';
import { openStore, type Store } from '#lib/postgres/store.ts';
import { idempotencyTable } from '#lib/rpc/server/idempotency.ts';
import { testStore } from '../../test/setup/database.ts';

/** The name of the tests' own service. */
export const service = 'shelf';

class Shelf extends Migration {
  override up(): void {
    this.addSql(attemptsTable);
    this.addSql(consumedTable);
    this.addSql(idempotencyTable);
    this.addSql('create table things (name text primary key)');
  }
}

/** A store with a table of things and all tables that lib adds to a service's own. */
export function givenStore(): Promise<Store> {
  return testStore((url) =>
    openStore({ name: service, url, entities: [], migrations: { shelf: Shelf } }),
  );
}

export async function things(store: Store): Promise<string[]> {
  const rows = await query<{ name: string }>(
    store.fork(),
    'select name from things order by 1',
    [],
  );
  return rows.map(({ name }) => name);
}
