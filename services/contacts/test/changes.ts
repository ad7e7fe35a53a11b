import { query } from '#lib/postgres/query.ts';
import type { Given } from './given.ts';

export type Entry = { kind: string; entity_id: string | null; changes: unknown };

/** The entries of the change log about a contact, oldest first. */
export function entriesOf(
  { context }: Given,
  workspaceId: string,
  email: string,
): Promise<Entry[]> {
  return query(
    context.store.fork(),
    `select kind, entity_id, changes from timeline_entries
     where workspace_id = $1 and email = $2 order by created_at, kind, entity_id`,
    [workspaceId, email],
  );
}

/** Keeps a segment in the workspace, whose tree reads these keys. */
export async function givenReader(
  { context }: Given,
  workspaceId: string,
  ...reads: string[]
): Promise<void> {
  await query(
    context.store.fork(),
    `insert into segments (workspace_id, id, name, color, tree, timezone, version, status, reads, created_at, updated_at)
     values ($1, gen_random_uuid()::text, 'Segment', 'red', '{}', 'UTC', 1, 'active', $2, now(), now())`,
    [workspaceId, ['*', ...reads]],
  );
}

/**
 * Removes and returns what waits to be looked at again, as `<address>: <keys>`, each address and
 * key once.
 */
export async function takeTouches({ context }: Given, workspaceId: string): Promise<string[]> {
  const rows = await query<{ touched: string }>(
    context.store.fork(),
    `with taken as (delete from segment_changes where workspace_id = $1 returning email, touched)
     select email || ': ' || string_agg(distinct key, ' ' order by key) as touched
     from taken cross join unnest(touched) as key group by email order by email`,
    [workspaceId],
  );
  return rows.map(({ touched }) => touched);
}
