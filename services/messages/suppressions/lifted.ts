import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/*
 * When addresses were taken off the suppression list. A report that comes later than that, about
 * what happened before, does not put its address on the list again.
 */

export async function rememberLifted(em: EntityManager, workspaceId: string, email: string) {
  await query(
    em,
    `insert into lifted_suppressions (workspace_id, email, lifted_at) values ($1, $2, now())
     on conflict (workspace_id, email) do update set lifted_at = excluded.lifted_at`,
    [workspaceId, email],
  );
}

/** Of contacts that were deleted: when each address was, null for now. */
export async function forgetLifted(
  em: EntityManager,
  workspaceId: string,
  deletions: ReadonlyMap<string, string | null>,
): Promise<void> {
  await query(
    em,
    `delete from lifted_suppressions
     where workspace_id = $1 and email = any($2::text[])
       and lifted_at <= coalesce(($3::jsonb ->> email)::timestamptz, now())`,
    [workspaceId, [...deletions.keys()], JSON.stringify(Object.fromEntries(deletions))],
  );
}
