import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

type Column = { name: string; type: string };

/** All tables of a service's schema with a column for the workspace. */
export async function tenantTables(store: Store): Promise<string[]> {
  const rows = await query<{ name: string }>(
    store.fork(),
    `select table_name as name from information_schema.columns
     join information_schema.tables using (table_schema, table_name)
     where table_schema = current_schema() and column_name = 'workspace_id' and table_type = 'BASE TABLE'
     order by 1`,
    [],
  );
  return rows.map(({ name }) => name);
}

/** Columns that need a value. */
function columnsOf(store: Store, table: string): Promise<Column[]> {
  return query<Column>(
    store.fork(),
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = current_schema() and table_name = $1 and is_nullable = 'NO' and is_generated = 'NEVER'
       and is_identity = 'NO' and column_default is null and column_name <> 'workspace_id'`,
    [table],
  );
}

const values: Record<string, string> = {
  // Some texts are unique among all workspaces.
  text: "'x' || number || $1::text",
  uuid: 'gen_random_uuid()',
  jsonb: "'{}'",
  json: "'{}'",
  bytea: "decode(md5(number::text), 'hex')",
  ARRAY: "'{}'",
  boolean: 'false',
  smallint: 'number',
  integer: 'number',
  bigint: 'number',
  'double precision': 'number',
  numeric: 'number',
  date: "date '2030-01-01'",
  'timestamp with time zone': "now() + number * interval '1 second'",
};

/** Puts rows of a workspace into every table, whatever they mean. */
export async function fill(store: Store, workspaceId: string, count = 3): Promise<void> {
  for (const table of await tenantTables(store)) {
    const columns = await columnsOf(store, table);
    const names = ['workspace_id', ...columns.map(({ name }) => name)];
    const made = columns.map(({ name, type }) => {
      const value = values[type];
      if (!value) throw new Error(`no value for ${table}.${name} of type ${type}`);
      return value;
    });
    await store.fork().transactional(async (em) => {
      // Foreign keys are no matter here.
      await query(em, 'set local session_replication_role = replica', []);
      await query(
        em,
        `insert into ${table} (${names.join(', ')}) select ${['$1', ...made].join(', ')}
         from generate_series(1, $2::int) as number on conflict do nothing`,
        [workspaceId, table === 'watch_cursor' ? 1 : count],
      );
    });
  }
}

/** How many rows of a workspace each table has; tables without any are left out. */
export async function rowsOf(store: Store, workspaceId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await tenantTables(store)) {
    const [row] = await query<{ count: number }>(
      store.fork(),
      `select count(*)::int as count from ${table} where workspace_id = $1`,
      [workspaceId],
    );
    if (row && row.count > 0) counts[table] = row.count;
  }
  return counts;
}
