import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { notOnHold } from '../hold/hold.ts';
import { satellites } from '../message-queries.ts';
import { byKey, type ClaimedMessage, leaseMs } from './claims.ts';

// The queue of transactional messages: those with `due_at` in message_requests.

/** Workspaces that one statement looks at, and that it gives. */
export const workspacesMax = 10_000;
export const dueWorkspacesMax = 64;

/** A part of the workspaces in the queue, in order. */
export type DuePage = {
  /** Workspaces with a message that is to be looked at now. */
  due: string[];
  /** The last one that was looked at; undefined if there are no more. */
  last: string | undefined;
};

/**
 * Some workspaces after one that have a message due: one step in the index for each that has any in
 * the queue, in their order, until there are enough.
 */
export async function findDueWorkspaces(store: Store, after: string): Promise<DuePage> {
  const rows = await query<{ workspace_id: string; place: number; is_due: boolean }>(
    store.fork(),
    `with recursive queued as (
       (select workspace_id, 1 as place from message_requests
        where due_at is not null and workspace_id > $1 order by workspace_id limit 1)
       union all
       select next.workspace_id, queued.place + 1 from queued cross join lateral (
         select workspace_id from message_requests
         where due_at is not null and workspace_id > queued.workspace_id order by workspace_id limit 1
       ) next
       where queued.place < ${workspacesMax}
     ), looked_at as (
       select workspace_id, place, exists (
         select from message_requests
         where workspace_id = queued.workspace_id and due_at is not null and due_at <= now()
       ) as is_due
       from queued
     )
     select workspace_id, place, is_due from looked_at where is_due or place = ${workspacesMax}
     limit ${dueWorkspacesMax}`,
    [after],
  );
  const last = rows.at(-1);
  const isLast = rows.length < dueWorkspacesMax && last?.place !== workspacesMax;
  return {
    due: rows.filter(({ is_due }) => is_due).map((row) => row.workspace_id),
    last: isLast ? undefined : last?.workspace_id,
  };
}

/** Takes messages out of the queue that have their outcome; says whether there may be more. */
export async function tidyQueue(store: Store, workspaceId: string, most: number): Promise<boolean> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with next as materialized (
       select workspace_id, message_id from message_requests
       where workspace_id = $1 and due_at is not null and due_at <= now() order by due_at limit $2
       for update skip locked
     ), done as (
       update message_requests r set due_at = null
       from next cross join lateral (
         select status from messages where id = next.message_id and workspace_id || '' = next.workspace_id offset 0
       ) m
       where r.message_id = next.message_id and r.workspace_id || '' = next.workspace_id
         and m.status not in ('deferred', 'sending')
       returning r.message_id, r.attachments, r.has_body
     ), ended as (
       update message_attachments a set erase_at = now() + interval '1 day'
       from done where done.attachments is not null and a.message_id = done.message_id and a.workspace_id = $1
     ), ended_bodies as (
       update message_bodies b set erase_at = now() + interval '1 day'
       from done where done.has_body and b.message_id = done.message_id and b.workspace_id = $1
     )
     select count(*)::int as count from done`,
    [workspaceId, most],
  );
  return row?.count === most;
}

/**
 * Ends messages whose time ran out before the mail server took them, and drops what they were made
 * from; says whether there may be more. Their external ids are free again, as after a failure.
 */
export async function expireQueued(
  store: Store,
  workspaceId: string,
  most: number,
): Promise<boolean> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with next as materialized (
       select workspace_id, message_id as id from message_requests
       where workspace_id = $1 and due_at is not null and due_at <= now() and expires_at <= now()
       order by due_at limit $2 for update skip locked
     ), expired as (
       update messages m set status = 'expired',
         status_info = left(concat_ws(': ', 'not accepted by the mail server in time', status_info), 255),
         failed_at = now(), updated_at = now(), due_at = null, owner = null, lease_until = null
       from next
       where ${byKey('m', 'next')}
         and (m.status = 'deferred' or (m.status = 'sending' and m.lease_until < now()))
       returning m.workspace_id, m.id
     ), ${satellites
       .map(
         (table) => `gone_${table} as (
           delete from ${table} t using expired
           where t.message_id = expired.id and t.workspace_id || '' = expired.workspace_id
         )`,
       )
       .join(', ')}
     select count(*)::int as count from expired`,
    [workspaceId, most],
  );
  return row?.count === most;
}

/** A message in the queue, as it is when its turn comes. */
export type QueuedMessage = {
  id: string;
  /** Null for mail to no list. */
  listId: string | null;
  notificationId: string;
  templateId: string;
  templateVersion: number;
  integrationId: string;
  email: string;
  createdAt: Date;
  expiresAt: Date | undefined;
  request: Buffer;
  attachments: readonly unknown[];
};

type QueuedRow = {
  message_id: string;
  list_id: string | null;
  notification_id: string;
  template_id: string;
  template_version: number;
  integration_id: string;
  contact_email: string;
  created_at: string;
  expires_at: string | null;
  request: Buffer;
  attachments: unknown[] | null;
};

/**
 * Takes the messages that are due longest. For the time of a lease no other process takes them; one
 * that is not open is looked at again when it may be, at the latest when it expires.
 */
export async function takeQueued(
  store: Store,
  workspaceId: string,
  most: number,
): Promise<QueuedMessage[]> {
  const rows = await query<QueuedRow>(
    store.fork(),
    `with next as materialized (
       select workspace_id, message_id from message_requests
       where workspace_id = $1 and due_at is not null and due_at <= now() order by due_at limit $2
       for update skip locked
     ), taken as (
       update message_requests r
       set due_at = least(case when r.expires_at > now() then r.expires_at end,
         greatest(m.due_at, m.lease_until, now() + $3 * interval '1 millisecond'))
       from next cross join lateral (
         select *, (status = 'deferred' and due_at <= now()) or (status = 'sending' and lease_until < now()) as is_open
         from messages where id = next.message_id and workspace_id || '' = next.workspace_id offset 0
       ) m
       where r.message_id = next.message_id and r.workspace_id || '' = next.workspace_id
       returning r.message_id, m.list_id, m.notification_id, m.template_id, m.template_version, m.integration_id, m.contact_email,
         m.created_at, r.expires_at, r.request, r.attachments, m.is_open
     )
     select * from taken where is_open`,
    [workspaceId, most, leaseMs],
  );
  return rows.map((row) => ({
    id: row.message_id,
    listId: row.list_id,
    notificationId: row.notification_id,
    templateId: row.template_id,
    templateVersion: row.template_version,
    integrationId: row.integration_id,
    email: row.contact_email,
    createdAt: new Date(row.created_at),
    expiresAt: row.expires_at === null ? undefined : new Date(row.expires_at),
    request: row.request,
    attachments: row.attachments ?? [],
  }));
}

/** Has messages looked at again after a while. */
export async function lookAgain(
  store: Store,
  workspaceId: string,
  { ids, afterMs }: { ids: readonly string[]; afterMs: number },
): Promise<void> {
  if (ids.length === 0) return;
  await query(
    store.fork(),
    `update message_requests r set due_at = now() + $3 * interval '1 millisecond'
     from unnest($2::uuid[]) as asked (id) where r.message_id = asked.id and r.workspace_id = $1`,
    [workspaceId, ids, afterMs],
  );
}

/** Stores what a message is made from again. */
export async function storeRequest(
  store: Store,
  { workspaceId, id }: { workspaceId: string; id: string },
  request: Buffer,
): Promise<void> {
  await query(
    store.fork(),
    'update message_requests set request = $3 where workspace_id = $1 and message_id = $2',
    [workspaceId, id, request],
  );
}

type ClaimedRow = {
  id: string;
  contact_email: string;
  status: ClaimedMessage['status'];
  attempts: number;
  unknown: number;
  status_info: string | null;
  created_at: string;
  due_at: string | null;
};

/** Why messages are not sent, by their order; empty for those that are. Of a list alone. */
export type ListRefusals = readonly string[];

/**
 * Claims messages of the queue. An address that has bounced meanwhile fails its message, unless
 * `sendToBounced`. With `refusals` the messages are to a list: any suppression skips them, too.
 */
export async function claimQueued(
  store: Store,
  { workspaceId, owner }: { workspaceId: string; owner: string },
  {
    ids,
    sendToBounced,
    refusals,
  }: { ids: readonly string[]; sendToBounced: boolean; refusals?: ListRefusals },
): Promise<ClaimedMessage[]> {
  const isToList = refusals !== undefined;
  const rows = await query<ClaimedRow>(
    store.fork(),
    `with given as materialized (
       select $1::text as workspace_id, unnest($2::uuid[]) as id, nullif(unnest($7::text[]), '') as refusal
     ), open as materialized (
       select m.workspace_id, m.id, m.status, coalesce((
         select reason from suppressions
         where workspace_id = $1 and email = m.contact_email and ($6::boolean or (reason = 'bounced' and not $5::boolean)) offset 0
       ), given.refusal) as refusal
       from given join messages m on ${byKey('m')}
       where ((m.status = 'deferred' and m.due_at <= now()) or (m.status = 'sending' and m.lease_until < now()))
         and ${notOnHold}
       for no key update of m skip locked
     )
     update messages m set
       status = case when refusal is null then 'sending' when $6::boolean then 'skipped' else 'failed' end,
       status_info = coalesce(refusal, status_info),
       failed_at = case when refusal is not null and not $6::boolean then now() end,
       attempts = attempts + (refusal is null)::int,
       unknown = unknown + (open.status = 'sending')::int,
       owner = case when refusal is null then $3::uuid end,
       lease_until = case when refusal is null then now() + $4 * interval '1 millisecond' end,
       due_at = null,
       updated_at = now()
     from open where ${byKey('m', 'open')}
     returning m.id, m.contact_email, m.status, m.attempts, m.unknown, m.status_info, m.created_at, m.due_at`,
    [workspaceId, ids, owner, leaseMs, sendToBounced, isToList, refusals ?? ids.map(() => '')],
  );
  return rows.map((row) => ({
    id: row.id,
    email: row.contact_email,
    status: row.status,
    attempts: row.attempts,
    unknown: row.unknown,
    info: row.status_info ?? '',
    createdAt: new Date(row.created_at),
    dueAt: undefined,
  }));
}

const failSql = (info: string) => `
  with given as materialized (select $1::text as workspace_id, unnest($2::uuid[]) as id)
  update messages m set status = 'failed', status_info = ${info}, failed_at = now(), updated_at = now(), due_at = null,
    owner = null, lease_until = null
  from given
  where ${byKey('m')} and (m.status = 'deferred' or (m.status = 'sending' and m.lease_until < now()))`;

/** Fails messages of the queue that will never be sent. */
export async function failQueued(
  store: Store,
  workspaceId: string,
  { ids, info }: { ids: readonly string[]; info: string },
): Promise<void> {
  await query(store.fork(), failSql('$3'), [workspaceId, ids, info]);
}

const overdueInfo = `left(concat_ws(': ', $3::text, status_info, nullif($4::text, '')), 255)`;

/**
 * Fails messages of the queue that have waited too long. Each keeps what it waited for, or the last
 * reply to it; the outage comes after that.
 */
export async function failOverdue(
  store: Store,
  workspaceId: string,
  { ids, info, outage }: { ids: readonly string[]; info: string; outage: string },
): Promise<void> {
  await query(store.fork(), failSql(overdueInfo), [workspaceId, ids, info, outage]);
}

/**
 * Cancels a message that no attempt was made of; gives its status afterwards, undefined if there is
 * none.
 */
export async function cancelQueued(
  store: Store,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<string | undefined> {
  const [row] = await query<{ status: string }>(
    store.fork(),
    `with cancelled as (
       update messages set status = 'cancelled', due_at = null, updated_at = now()
       where id = $2 and workspace_id = $1 and notification_id is not null and status = 'deferred' and attempts = 0
       returning id, status
     ), unqueued as (
       update message_requests r set due_at = null from cancelled where r.message_id = cancelled.id and r.workspace_id = $1
     ), erased as (
       delete from message_attachments a using cancelled where a.message_id = cancelled.id and a.workspace_id = $1
     ), erased_bodies as (
       delete from message_bodies b using cancelled where b.message_id = cancelled.id and b.workspace_id = $1
     )
     select coalesce((select status from cancelled), case when m.status = 'deferred' then 'being sent' else m.status end)
       as status
     from messages m where m.id = $2 and m.workspace_id = $1 and m.notification_id is not null`,
    [workspaceId, id],
  );
  return row?.status;
}

const erasedMax = 200;

/** Erases files and bodies whose day is over; says whether there may be more. */
export async function eraseDone(store: Store): Promise<boolean> {
  const files = await eraseOld(store, 'message_attachments', 'message_id, place, workspace_id');
  const bodies = await eraseOld(store, 'message_bodies', 'message_id, workspace_id');
  return files || bodies;
}

/** Erases rows of a table with the given primary key; says whether there may be more. */
async function eraseOld(store: Store, table: string, key: string): Promise<boolean> {
  const erased = await query(
    store.fork(),
    `delete from ${table} where (${key}) in (
       select ${key} from ${table} where erase_at <= now() order by erase_at limit $1
     ) returning 1`,
    [erasedMax],
  );
  return erased.length === erasedMax;
}
