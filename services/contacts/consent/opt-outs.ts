import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { skewMs } from './membership.ts';

/**
 * SQL of why a contact gets no mail of a broadcast to no list; null if it does. Removed memberships
 * count, since the person said so. A subquery with an aggregate is evaluated row by row: a join of
 * whole tables is what the planner takes without statistics.
 */
export function allMailRefusalSql(email: string): string {
  return `coalesce(
    (select min(status) from memberships
     where workspace_id = $1 and email = ${email} and status in ('bounced', 'complained', 'unsubscribed')),
    (select min('unsubscribed') from opt_outs where workspace_id = $1 and email = ${email})
  )`;
}

/**
 * Records that the person left all mail, unless they have come back to a list since. The caller has
 * locked the contact, if there is one.
 */
export async function addOptOut(
  em: EntityManager,
  workspaceId: string,
  { email, at, happenedAt }: { email: string; at: Date; happenedAt?: string | undefined },
): Promise<void> {
  await query(
    em,
    `insert into opt_outs (workspace_id, email, created_at)
     select $1, $2, $3 where not exists (
       select from memberships
       where workspace_id = $1 and email = $2 and status in ('active', 'pending') and deleted_at is null
         and updated_at > $4::timestamptz + interval '${skewMs} milliseconds'
     ) on conflict do nothing`,
    [workspaceId, email, at, happenedAt ?? null],
  );
}

/** Lifts the opt-outs of those who are active in one of the lists, which they have confirmed. */
export async function liftOptOuts(
  em: EntityManager,
  workspaceId: string,
  { emails, listIds }: { emails: readonly string[]; listIds: readonly string[] },
): Promise<void> {
  await query(
    em,
    `delete from opt_outs where workspace_id = $1 and email = any($2::text[]) and exists (
       select from memberships membership
       where membership.workspace_id = $1 and membership.list_id = any($3::text[])
         and membership.email = opt_outs.email and membership.status = 'active' and membership.deleted_at is null
     )`,
    [workspaceId, emails, listIds],
  );
}
