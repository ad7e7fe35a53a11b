import { plainArray } from '#lib/postgres/arrays.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { notOnHold } from '../hold/hold.ts';
import { byKey, type ClaimGroup, tagsValue } from './claims.ts';
import { elapsedSince } from './elapsed.ts';
import { countStep } from './variation-counts.ts';

/** A message that waits for its receiver: not before, and why. */
export type Deferral = { id: string; email: string; dueAt: Date; info: string };

/**
 * Puts off messages that have a row and could be claimed; gives their ids, and how often nobody
 * knows what became of them. No attempt is counted. A message whose holder is gone may have been
 * sent.
 */
export async function deferAgain(
  store: Store,
  workspaceId: string,
  deferrals: readonly Deferral[],
): Promise<Map<string, number>> {
  const rows = await query<{ id: string; unknown: number }>(
    store.fork(),
    `with given as materialized (
       select $1::text as workspace_id, id, due_at, info
       from unnest($2::uuid[], $3::timestamptz[], $4::text[]) as given (id, due_at, info)
     ), open as materialized (
       select m.workspace_id, m.id, m.status, m.unknown, given.due_at, given.info
       from given join messages m on ${byKey('m')}
       where (m.status = 'deferred' and m.due_at <= now()) or (m.status = 'sending' and m.lease_until < now())
       for no key update of m skip locked
     ), put_off as (
       update messages m set status = 'deferred', due_at = open.due_at, status_info = open.info,
         unknown = m.unknown + (m.status = 'sending')::int, owner = null, lease_until = null, updated_at = now()
       from open where ${byKey('m', 'open')}
       returning m.workspace_id, m.id, m.notification_id, m.broadcast_id, m.template_id, m.by_hand, m.unknown,
         m.due_at, (open.status = 'sending')::int as deferred, (m.unknown > 0)::int - (open.unknown > 0)::int as newly_unknown
     ), queued as (
       update message_requests r
       set due_at = least(case when r.expires_at > now() then r.expires_at end, put_off.due_at)
       from put_off
       where put_off.notification_id is not null
         and r.message_id = put_off.id and r.workspace_id = put_off.workspace_id
     ), ${countStep('put_off', { deferred: 'deferred', unknown: 'newly_unknown' })}
     select id, unknown from put_off`,
    [
      workspaceId,
      plainArray(deferrals.map(({ id }) => id)),
      plainArray(deferrals.map(({ dueAt }) => dueAt.toISOString())),
      deferrals.map(({ info }) => info),
    ],
  );
  return new Map(rows.map(({ id, unknown }) => [id, unknown]));
}

/**
 * Records messages that have no row yet as deferred, without an attempt; gives the ids of those
 * that were recorded. None is while mail is on hold. `askedMs`: when contacts was asked about them,
 * in Unix milliseconds.
 */
export async function deferNew(
  store: Store,
  group: ClaimGroup,
  { deferrals, askedMs }: { deferrals: readonly Deferral[]; askedMs: number },
): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    store.fork(),
    `with put_off as (
       insert into messages (workspace_id, id, contact_email, broadcast_id, list_id, template_id, template_version,
         integration_id, by_hand, status, status_info, attempts, due_at, created_at, updated_at, tags)
       select $1, id, email, $2, $3, $4, $5, $6, $7, 'deferred', info, 0, due_at,
         now() - $12::float8 * interval '1 millisecond', now(), string_to_array($13, ',')
       from unnest($8::uuid[], $9::text[], $10::timestamptz[], $11::text[]) as given (id, email, due_at, info)
       where ${notOnHold}
       order by id
       on conflict (workspace_id, id) do nothing
       returning id, broadcast_id, template_id, by_hand, 1 as deferred
     ), ${countStep('put_off', { deferred: 'deferred' })}
     select id from put_off`,
    [
      group.workspaceId,
      group.broadcastId,
      group.listId,
      group.templateId,
      group.templateVersion,
      group.integrationId,
      group.isByHand,
      plainArray(deferrals.map(({ id }) => id)),
      deferrals.map(({ email }) => email),
      plainArray(deferrals.map(({ dueAt }) => dueAt.toISOString())),
      deferrals.map(({ info }) => info),
      elapsedSince(askedMs, Date.now),
      tagsValue(group),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}
