import { testAddressForm } from '#lib/keys/return-path.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { type SuppressionRow, strengthSql } from './input.ts';

export type StoredSuppression = {
  email: string;
  reason: string;
  note: string | null;
  created_at: string;
  /** When it ends by itself; null if it does not. */
  expires_at: string | null;
};

export const suppressionColumns = 'email, reason, note, created_at, expires_at';

/** Of an entry `s` that is there. One without an end replaces one with an end. */
const isWeaker = `(s.expires_at is not null
  or ${strengthSql('excluded.reason')} > ${strengthSql('s.reason')})`;

/**
 * The step of a statement that suppresses addresses for good, in SQL: `rows` selects each `email`
 * once, with its `reason`, of workspace $1. In the order of addresses, so that parallel statements
 * can't deadlock. Addresses of tests are nobody's, and each gets one mail.
 */
export function suppressStep(rows: string): string {
  return `suppressed as (
    insert into suppressions as s (workspace_id, email, reason, created_at)
    select $1::text, email, reason, now() from (${rows}) dead
    where email !~ '${testAddressForm}'
    order by email
    on conflict (workspace_id, email) do update
      set reason = excluded.reason, expires_at = null, note = case when s.expires_at is null then s.note end
      where ${isWeaker}
  )`;
}

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
       set reason = excluded.reason, note = coalesce(excluded.note, s.note), expires_at = null
       where ${isWeaker}
     returning ${suppressionColumns}, xmax = 0 as is_new`,
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
    `select ${suppressionColumns} from suppressions where workspace_id = $1 and email = $2`,
    [workspaceId, email],
  );
  return row;
}
