import { addJob, bulkPriority } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';

/** When soft bounces suppress an address, and for how long. */
export type SoftBounceRule = {
  /** In a row, each of another message. */
  inRow: number;
  /** From the first to the last of them, at least. */
  overDays: number;
  suppressedDays: number;
};

/** The newest messages of an address that are looked at. */
export const messagesMax = 1_000;

export type Returned = { workspaceId: string; emails: readonly string[] };

/**
 * Has a job look at addresses whose mails came back. A transaction that has suppressed addresses
 * must not wait for further ones: another may hold these, and wait in turn.
 */
export async function addSuppressing(em: EntityManager, payload: Returned): Promise<void> {
  if (payload.emails.length === 0) return;
  await addJob(em, 'messages', { task: 'suppressReturned', payload, priority: bulkPriority });
}

/**
 * Suppresses addresses whose mails came back again and again, for a while: those with soft bounces
 * of enough messages since the last delivery, open or click, and since the owner took it off the
 * list. Only `soft` and `expired` count. An entry that is there without an end stays.
 */
export async function suppressReturned(
  store: Store,
  rule: SoftBounceRule,
  { workspaceId, emails }: Returned,
): Promise<void> {
  await query(
    store.fork(),
    `with recent as materialized (
       select m.* from unnest($2::text[]) as returned (email) cross join lateral (
         select contact_email, soft_bounced_at, bounce_class, greatest(delivered_at, opened_at, clicked_at) as alive_at
         from messages where workspace_id = $1 and contact_email = returned.email and contact_email <> ''
         order by created_at desc limit ${messagesMax}
       ) m
     ), alive as materialized (
       select contact_email, greatest(max(alive_at), (
         select lifted_at from lifted_suppressions where workspace_id = $1 and email = contact_email
       )) as at
       from recent group by contact_email
     ), counted as (
       select contact_email as email, count(*) as count
       from recent join alive using (contact_email)
       where bounce_class in ('soft', 'expired') and soft_bounced_at > coalesce(alive.at, '-infinity')
       group by contact_email
       having count(*) >= $3::int and max(soft_bounced_at) - min(soft_bounced_at) >= $4::int * interval '1 day'
     )
     insert into suppressions as s (workspace_id, email, reason, note, created_at, expires_at)
     select $1, email, 'bounced', count || ' soft bounces in a row', now(), now() + $5::int * interval '1 day'
     from counted order by email
     on conflict (workspace_id, email) do update set note = excluded.note, expires_at = excluded.expires_at
       where s.expires_at is not null`,
    [workspaceId, emails, rule.inRow, rule.overDays, rule.suppressedDays],
  );
}
