import pg from 'pg';
import type { Fleet } from './fleet.ts';

/** Gives the workspace contacts on one list, by SQL. */
export async function fillContacts(fleet: Fleet, listId: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: fleet.databaseUrl });
  await client.connect();
  const values = [fleet.workspaceId, count];
  await client.query(
    `insert into contacts.contacts (workspace_id, email, external_id, first_name, created_at, updated_at)
     select $1, 'person' || n || '@example.com', 'id-' || n, 'Person ' || n, now(), now()
     from generate_series(1, $2::int) n`,
    values,
  );
  await client.query(
    `insert into contacts.memberships (workspace_id, list_id, email, status, created_at, updated_at)
     select $1, $3, 'person' || n || '@example.com', 'active', now(), now() from generate_series(1, $2::int) n`,
    [...values, listId],
  );
  await client.query('vacuum analyze contacts.contacts, contacts.memberships');
  await client.end();
}
