import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { type SuppressionRow, strengthSql } from './input.ts';

export type StoredSuppression = {
  email: string;
  reason: string;
  note: string | null;
  created_at: string;
};

/** An address that is new or has a stronger reason now. Others keep their entry. */
export type WrittenSuppression = StoredSuppression & { is_new: boolean };

/**
 * Writes entries in the order of their addresses, in which bounces write theirs. Each address is
 * there once.
 */
export function writeSuppressions(
  em: EntityManager,
  workspaceId: string,
  rows: readonly SuppressionRow[],
): Promise<WrittenSuppression[]> {
  return query<WrittenSuppression>(
    em,
    `insert into suppressions as s (workspace_id, email, reason, note, created_at)
     select $1, email, reason, note, now() from unnest($2::text[], $3::text[], $4::text[]) as given (email, reason, note)
     order by email
     on conflict (workspace_id, email) do update
       set reason = excluded.reason, note = coalesce(excluded.note, s.note)
       where ${strengthSql('excluded.reason')} > ${strengthSql('s.reason')}
     returning email, reason, note, created_at, xmax = 0 as is_new`,
    [
      workspaceId,
      rows.map(({ email }) => email),
      rows.map(({ reason }) => reason),
      rows.map(({ note }) => note),
    ],
  );
}

export async function findSuppression(
  em: EntityManager,
  workspaceId: string,
  email: string,
): Promise<StoredSuppression | undefined> {
  const [row] = await query<StoredSuppression>(
    em,
    'select email, reason, note, created_at from suppressions where workspace_id = $1 and email = $2',
    [workspaceId, email],
  );
  return row;
}
