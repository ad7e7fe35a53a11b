/*
 * Claims: which process sends a message.
 *
 * States of a row: sending (claimed under a lease of 30 s), sent, failed, skipped, and deferred (to
 * be tried again at `due_at`). A row is claimed where it is new, deferred and due, or sending with
 * a lease that is over. `owner` is the process.
 *
 * Order: contacts is asked for consent, then the claim looks at suppressions in its own statement.
 * A claimed message is sent only by its owner, and only while the lease lasts
 * (`delivery/underway.ts` renews it). An outcome ends the claim (`results.ts`), or it is given back
 * (`give-back.ts`).
 *
 * Invariant: no message is begun twice at the same time. After a death a message may be sent again:
 * a journal says which ones were begun (`journal.ts`), without one the end of the lease decides.
 */

import { plainArray } from '#lib/postgres/arrays.ts';
import { prepared } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { notOnHold } from '../hold/hold.ts';
import type { MessageStatus } from '../message.ts';
import { elapsedSince } from './elapsed.ts';
import { countStep } from './variation-counts.ts';

/** Long enough for a slow server, short enough that what a dead process held is soon taken up. */
export const leaseMs = 30_000;

/** Values that all messages of a claim share. */
export type ClaimGroup = {
  workspaceId: string;
  /** Null for mail that no broadcast sends. */
  broadcastId: string | null;
  /** Null for mail to no list. */
  listId: string | null;
  templateId: string;
  templateVersion: number;
  integrationId: string;
  /** Sent by a person to one address; the broadcast does not count it. */
  isByHand: boolean;
  /** Of all its messages; none if absent. */
  tags?: readonly string[];
};

export type Claimant = { id: string; email: string; skipReason: string };

/** A row as the record has it. */
export type RecordedMessage = {
  id: string;
  status: MessageStatus;
  attempts: number;
  unknown: number;
  /** The server's last words, or ours; empty before there are any. */
  info: string;
  createdAt: Date;
  dueAt: Date | undefined;
};

export type ClaimedMessage = RecordedMessage & { email: string };

type RecordedRow = {
  id: string;
  contact_email: string;
  status: MessageStatus;
  attempts: number;
  unknown: number;
  status_info: string | null;
  created_at: string;
  due_at: string | null;
};

/**
 * Rows to join by their whole key, so that each is one look into the primary key. With the
 * workspace as a constant PostgreSQL may read all rows of the workspace, as it does while a young
 * table has no statistics.
 */
const keysOf = (workspaceId: string, ids: string) =>
  `select ${workspaceId}::text as workspace_id, unnest(${ids}::uuid[]) as id`;

/**
 * Joins rows of messages to those of `keysOf`. Only the primary key, which begins with the id, can
 * serve it: the other indexes need the workspace, which is hidden from them. While a table is young
 * they look cheaper than the key, and a prepared plan would go on to read all messages of the
 * workspace for each id.
 */
export const byKey = (row: string, keys = 'given') =>
  `${row}.id = ${keys}.id and ${row}.workspace_id || '' = ${keys}.workspace_id`;

/** State of messages in the record. */
export type RecordedState = {
  /** Messages that cannot be claimed now: done, not due, or claimed by another process. */
  recorded: Map<string, RecordedMessage>;
  /** Messages with a row that may be claimed. */
  claimable: Set<string>;
};

// Not prepared: a plan that was made while the table was one page would scan it later.
const recordedSql = `with given as materialized (${keysOf('$1', '$2')})
  select m.id, m.contact_email, m.status, m.attempts, m.unknown, m.status_info, m.created_at, m.due_at,
    (m.status = 'deferred' and m.due_at <= now()) or (m.status = 'sending' and m.lease_until < now()) as is_claimable
  from given cross join lateral (
    select id, contact_email, status, attempts, unknown, status_info, created_at, due_at, lease_until from messages
    where ${byKey('messages')} offset 0
  ) m`;

export async function readRecorded(
  store: Store,
  workspaceId: string,
  ids: readonly string[],
): Promise<RecordedState> {
  const rows = await query<RecordedRow & { is_claimable: boolean }>(store.fork(), recordedSql, [
    workspaceId,
    ids,
  ]);
  const done = rows.filter(({ is_claimable }) => !is_claimable);
  const claimable = rows.filter(({ is_claimable }) => is_claimable);
  return {
    recorded: new Map(done.map((row) => [row.id, toRecorded(row)])),
    claimable: new Set(claimable.map(({ id }) => id)),
  };
}

/** When contacts was asked about the claimants: a deletion since then is about them. */
const askedAt = `(now() - $13::float8 * interval '1 millisecond')`;

/** New rows as they are claimed, or skipped. */
const insertSql = `
     insert into messages as m (workspace_id, id, contact_email, broadcast_id, list_id, template_id,
       template_version, integration_id, by_hand, status, status_info, attempts, owner, lease_until, created_at,
       updated_at, tags)
     select $1, given.id, case when given.is_kept then given.email else '' end, $2, $3, $4, $5, $6, $12,
       case when given.reason is null then 'sending' else 'skipped' end, given.reason,
       (given.reason is null)::int, case when given.reason is null then $7::uuid end,
       case when given.reason is null then now() + $8 * interval '1 millisecond' end, ${askedAt}, now(), string_to_array($14, ',')
     from (
       select id, email, coalesce(s.reason, asked.reason) as reason,
         -- A removed contact may be deleted without another event, so its address is dropped now.
         asked.reason is distinct from 'removed' as is_kept
       from unnest($9::uuid[], $10::text[], $11::text[]) as asked (id, email, reason)
       left join lateral (
         select reason from suppressions where workspace_id = $1 and email = asked.email offset 0
       ) s on true
     ) given
     where ${notOnHold}
     order by given.id`;

const returned =
  'm.id, m.contact_email, m.status, m.attempts, m.unknown, m.status_info, m.created_at, m.due_at';
const counted = 'm.broadcast_id, m.template_id, m.by_hand';

/**
 * For messages that have no row yet: inserts all of them, or none while mail is on hold. A row that
 * is there already makes the statement fail. That is cheaper than `on conflict`, which PostgreSQL
 * pays for with each row.
 */
const claimNewSql = prepared(`with claimed as (${insertSql}
     returning m.id, m.status, m.status_info, ${counted}
   ), ${countStep('claimed', { skipped: "(status = 'skipped')::int" })}
   select ${askedAt} as at, count(*)::int as count,
     coalesce(json_object_agg(id, status_info) filter (where status = 'skipped'), '{}') as skipped
   from claimed`);

const claimSql = `with before as materialized (
     select m.id, m.template_id, m.status, m.unknown
     from unnest($9::uuid[]) as asked (id)
     cross join lateral (select * from messages where workspace_id = $1 and id = asked.id offset 0) m
   ), claimed as (${insertSql}
     on conflict (workspace_id, id) do update set
       contact_email = excluded.contact_email,
       consent_at = excluded.created_at,
       status = excluded.status,
       status_info = excluded.status_info,
       attempts = m.attempts + excluded.attempts,
       unknown = m.unknown + (m.status = 'sending')::int,
       template_id = excluded.template_id,
       template_version = excluded.template_version,
       integration_id = excluded.integration_id,
       owner = excluded.owner,
       lease_until = excluded.lease_until,
       due_at = null,
       updated_at = excluded.updated_at
     where (m.status = 'deferred' and m.due_at <= now()) or (m.status = 'sending' and m.lease_until < now())
     returning ${returned}, ${counted}
   ), dropped as (
     -- Of an earlier attempt; nothing finds it by the address any more.
     delete from message_contents t using claimed
     where claimed.contact_email = '' and t.message_id = claimed.id and t.workspace_id || '' = $1
   ), changed as (
     select broadcast_id, template_id, by_hand, (status = 'skipped')::int as skipped, 0 as deferred,
       (unknown > 0)::int as unknown
     from claimed
     union all
     -- Another attempt may be made with another template.
     select broadcast_id, before.template_id, by_hand, 0, -(before.status = 'deferred')::int, -(before.unknown > 0)::int
     from claimed join before using (id)
   ), ${countStep('changed', { skipped: 'skipped', deferred: 'deferred', unknown: 'unknown' })}
   select id, contact_email, status, attempts, unknown, status_info, created_at, due_at from claimed`;

/**
 * Claims messages for this process, in one insert: new ones, deferred ones that are due, and those
 * whose holder is gone. Only what comes back as `sending` is ours to send; those who may not be
 * written to, or are suppressed, are recorded as skipped. `areNew`: none of them should have a row.
 * `askedMs`: when contacts was asked about them, in Unix milliseconds; now if absent.
 */
export async function claim(
  store: Store,
  owner: string,
  group: ClaimGroup,
  {
    claimants,
    areNew,
    askedMs = Date.now(),
  }: { claimants: readonly Claimant[]; areNew: boolean; askedMs?: number },
): Promise<ClaimedMessage[]> {
  const values = [
    group.workspaceId,
    group.broadcastId,
    group.listId,
    group.templateId,
    group.templateVersion,
    group.integrationId,
    owner,
    leaseMs,
    plainArray(claimants.map(({ id }) => id)),
    claimants.map(({ email }) => email),
    claimants.map(({ skipReason }) => skipReason || null),
    group.isByHand,
    elapsedSince(askedMs, Date.now),
    tagsValue(group),
  ];
  const fresh = areNew ? await claimNew(store, claimants, values) : undefined;
  if (fresh) return fresh;
  const rows = await query<RecordedRow>(store.fork(), claimSql, values);
  return rows.map((row) => ({ ...toRecorded(row), email: row.contact_email }));
}

/** As a statement takes them: between commas, null for none. */
export function tagsValue({ tags = [] }: Pick<ClaimGroup, 'tags'>): string | null {
  return tags.length > 0 ? tags.join(',') : null;
}

type ClaimedNew = { at: string; count: number; skipped: Record<string, string> };

const uniqueViolation = '23505';

function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === uniqueViolation;
}

/** Undefined where one of them has a row all the same; nothing is claimed then. */
async function claimNew(
  store: Store,
  claimants: readonly Claimant[],
  values: readonly unknown[],
): Promise<ClaimedMessage[] | undefined> {
  const row = await insertNew(store, values);
  if (!row) return undefined;
  if (row.count === 0) return [];
  const createdAt = new Date(row.at);
  const skipped = new Map(Object.entries(row.skipped));
  return claimants.map(({ id, email }) => {
    const info = skipped.get(id);
    const mine = { id, email, unknown: 0, info: info ?? '', createdAt, dueAt: undefined };
    return info === undefined
      ? { ...mine, status: 'sending', attempts: 1 }
      : { ...mine, status: 'skipped', attempts: 0 };
  });
}

async function insertNew(
  store: Store,
  values: readonly unknown[],
): Promise<ClaimedNew | undefined> {
  try {
    const [row] = await query<ClaimedNew>(store.fork(), claimNewSql, values);
    return row;
  } catch (error) {
    if (isDuplicate(error)) return undefined;
    throw error;
  }
}

/** Messages that a process has claimed and not recorded. */
export async function readHeldBy(
  store: Store,
  owner: string,
  workspaceId: string,
  ids: readonly string[],
): Promise<ClaimedMessage[]> {
  const rows = await query<RecordedRow>(
    store.fork(),
    `with given as materialized (${keysOf('$1', '$2')})
     select m.id, m.contact_email, m.status, m.attempts, m.unknown, m.status_info, m.created_at, m.due_at
     from given join messages m on ${byKey('m')}
     where m.owner = $3 and m.status = 'sending'`,
    [workspaceId, ids, owner],
  );
  return rows.map((row) => ({ ...toRecorded(row), email: row.contact_email }));
}

/**
 * Keeps what is still being sent in our hands; gives the ids that are. A row that is locked is
 * passed over: it is being recorded or given back, and to wait for it while other rows are locked
 * can be a deadlock with that.
 */
export async function renewLeases(
  store: Store,
  owner: string,
  workspaceId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    store.fork(),
    `with given as materialized (${keysOf('$1', '$2')}), free as materialized (
       select m.workspace_id, m.id
       from given join messages m on ${byKey('m')}
       where m.owner = $3
       for no key update of m skip locked
     )
     update messages m set lease_until = now() + $4 * interval '1 millisecond'
     from free where ${byKey('m', 'free')} and m.owner = $3
     returning m.id`,
    [workspaceId, ids, owner, leaseMs],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Lets go of messages of which nothing was sent: the record is as if they had not been claimed. */
export async function giveBack(
  store: Store,
  owner: string,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const values = [workspaceId, ids, owner];
  await store.fork().transactional(async (em) => {
    await query(
      em,
      `with given as materialized (${keysOf('$1', '$2')})
       delete from messages m using given
       where ${byKey('m')} and m.owner = $3 and m.attempts = 1
         -- A confirmation was in the queue before its first claim.
         and m.broadcast_id is not null`,
      values,
    );
    await query(
      em,
      `with given as materialized (${keysOf('$1', '$2')}), given_back as (
         update messages m set status = 'deferred', due_at = now(), attempts = attempts - 1, owner = null,
           lease_until = null, updated_at = now()
         from given where ${byKey('m')} and m.owner = $3
         returning m.workspace_id, m.id, m.notification_id, m.broadcast_id, m.template_id, m.by_hand, 1 as deferred
       ), queued as (
         update message_requests r set due_at = now() from given_back
         where given_back.notification_id is not null
           and r.message_id = given_back.id and r.workspace_id = given_back.workspace_id
       ), ${countStep('given_back', { deferred: 'deferred' })}
       select`,
      values,
    );
  });
}

function toRecorded(row: RecordedRow): RecordedMessage {
  return {
    id: row.id,
    status: row.status,
    attempts: row.attempts,
    unknown: row.unknown,
    info: row.status_info ?? '',
    createdAt: new Date(row.created_at),
    dueAt: row.due_at === null ? undefined : new Date(row.due_at),
  };
}
