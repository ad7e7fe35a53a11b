/*
 * Welcome mails: one row for each contact and list.
 *
 * States: waiting (`due_at`), done (`done_at`: sent or failed), gone (skipped, as the contact had
 * left). A later period of the membership takes over a row that waits; one that is done takes a
 * new period only where it began more than a day after. Older periods change nothing.
 *
 * A message belongs to a row, not to a period: its id stays until it is done, so that after a death
 * in between the next round claims the same message. Its outcome ends the row where it was for the
 * period that waits, or where it was sent within a day of that; otherwise the row waits with
 * another message.
 *
 * Next: the job of the list (`tasks/send-welcomes.ts`), added here for what is due at once, and
 * every minute for the others (`tasks/begin-welcomes.ts`).
 */

import { addJob, addMissingJobs, bulkPriority, type KeyedJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { byKey } from './claims.ts';
import type { ListKey } from './confirmations.ts';

/** A membership became active. Times in RFC 3339. */
export type WelcomeRequest = {
  email: string;
  listId: string;
  activeSince: string;
  happenedAt: string;
  delaySeconds: number;
  isImport: boolean;
};

/** A list's welcomes for those who came by imports, or for all others. */
export type WelcomeQueue = ListKey & { isImport: boolean };

/** A welcome whose time has come. */
export type DueWelcome = { id: string; email: string; activeSince: string };

/** A return sooner than this after a welcome belongs to the membership that was welcomed. */
const sameFor = '1 day';
/** Longer than any event is late. */
const doneKept = '7 days';

/** Queues welcomes, and adds the jobs of lists where one is due. Commits with the caller. */
export async function requestWelcomes(
  em: EntityManager,
  workspaceId: string,
  requests: readonly WelcomeRequest[],
): Promise<void> {
  const queues = await query<{ list_id: string; is_import: boolean }>(
    em,
    `with given as (
       select distinct on (email, list_id) *
       from unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::int[], $7::boolean[])
         as asked (email, list_id, active_since, happened_at, delay_seconds, is_import)
       order by email, list_id, happened_at desc
     ), queued as (
       insert into welcomes as w (workspace_id, email, list_id, active_since, happened_at, is_import, message_id,
         message_since, due_at)
       select $1, email, list_id, active_since, happened_at, is_import, gen_random_uuid(), active_since,
         least(happened_at, now()) + delay_seconds * interval '1 second'
       from given order by email, list_id
       on conflict (workspace_id, email, list_id) do update set
         active_since = excluded.active_since, happened_at = excluded.happened_at,
         is_import = excluded.is_import, due_at = excluded.due_at, done_at = null,
         message_id = case when w.due_at is null then excluded.message_id else w.message_id end,
         message_since = case when w.due_at is null then excluded.message_since else w.message_since end
       where excluded.happened_at > w.happened_at
         and (w.due_at is not null or excluded.happened_at > w.done_at + interval '${sameFor}')
       returning list_id, is_import, due_at
     )
     select distinct list_id, is_import from queued where due_at <= now() order by list_id`,
    [
      workspaceId,
      requests.map(({ email }) => email),
      requests.map(({ listId }) => listId),
      requests.map(({ activeSince }) => activeSince),
      requests.map(({ happenedAt }) => happenedAt),
      requests.map(({ delaySeconds }) => delaySeconds),
      requests.map(({ isImport }) => isImport),
    ],
  );
  for (const { list_id: listId, is_import: isImport } of queues) {
    await addWelcoming(em, { workspaceId, listId, isImport });
  }
}

/** Adds the job that sends welcomes of a list. */
export async function addWelcoming(
  em: EntityManager,
  queue: WelcomeQueue,
  runAt?: Date,
): Promise<void> {
  await addJob(em, 'messages', { ...jobOf(queue), ...(runAt ? { runAt } : {}) });
}

function jobOf(queue: WelcomeQueue): KeyedJob {
  const kind = queue.isImport ? 'imports' : 'others';
  return {
    task: 'sendWelcomes',
    payload: queue,
    key: `welcomes/${queue.workspaceId}/${queue.listId}/${kind}`,
    // A workspace whose server is slow takes one place of the lane for each kind.
    queue: `welcomes/${queue.workspaceId}/${kind}`,
    priority: queue.isImport ? bulkPriority : 0,
  };
}

/** Some of the lists with welcomes that wait, in order. */
export type DueQueues = {
  /** The queues in which one is due. */
  due: WelcomeQueue[];
  /** The last list that was looked at; undefined if there are no more. */
  last: ListKey | undefined;
};

/** Looks at the lists after one: a step in the index for each. */
export async function findDueQueues(
  store: Store,
  after: ListKey,
  most: number,
): Promise<DueQueues> {
  const rows = await query<{ workspace_id: string; list_id: string; kinds: boolean[] }>(
    store.fork(),
    `with recursive waiting as (
       (select workspace_id, list_id, 1 as place from welcomes
        where due_at is not null and (workspace_id, list_id) > ($1, $2)
        order by workspace_id, list_id limit 1)
       union all
       select next.workspace_id, next.list_id, waiting.place + 1 from waiting cross join lateral (
         select workspace_id, list_id from welcomes
         where due_at is not null and (workspace_id, list_id) > (waiting.workspace_id, waiting.list_id)
         order by workspace_id, list_id limit 1
       ) next
       where waiting.place < $3::int
     )
     select workspace_id, list_id, array(
       select kind from unnest(array[false, true]) kind
       where exists (
         select from welcomes w
         where w.workspace_id = waiting.workspace_id and w.list_id = waiting.list_id
           and w.is_import = kind and w.due_at <= now()
       )
       order by kind
     ) as kinds
     from waiting order by place`,
    [after.workspaceId, after.listId, most],
  );
  const looked = rows.map((row) => ({
    key: { workspaceId: row.workspace_id, listId: row.list_id },
    kinds: row.kinds,
  }));
  return {
    due: looked.flatMap(({ key, kinds }) => kinds.map((isImport) => ({ ...key, isImport }))),
    last: looked.length === most ? looked.at(-1)?.key : undefined,
  };
}

/** Adds the jobs of lists that have none, and leaves the others as they are. */
export async function addMissingWelcomings(
  store: Store,
  queues: readonly WelcomeQueue[],
): Promise<void> {
  await addMissingJobs(store.fork(), 'messages', queues.map(jobOf));
}

/** Welcomes that are due. */
export async function readDueWelcomes(
  store: Store,
  { workspaceId, listId, isImport }: WelcomeQueue,
  most: number,
): Promise<DueWelcome[]> {
  const rows = await query<{ message_id: string; email: string; active_since: string }>(
    store.fork(),
    `select message_id, email, to_json(active_since) #>> '{}' as active_since from welcomes
     where workspace_id = $1 and list_id = $2 and is_import = $3 and due_at <= now()
     order by due_at limit $4`,
    [workspaceId, listId, isImport, most],
  );
  return rows.map((row) => ({
    id: row.message_id,
    email: row.email,
    activeSince: row.active_since,
  }));
}

/**
 * Puts the messages of welcomes into the history, as they wait for their first attempt. Until
 * contacts is asked, a deletion since the period began is about them.
 */
export async function openWelcomes(
  store: Store,
  { workspaceId, listId }: ListKey,
  {
    notificationId,
    tags,
    due,
  }: { notificationId: string; tags: readonly string[]; due: readonly DueWelcome[] },
): Promise<void> {
  await query(
    store.fork(),
    `insert into messages (workspace_id, id, contact_email, list_id, notification_id, template_id,
       template_version, integration_id, status, attempts, due_at, consent_at, tags, created_at, updated_at)
     select w.workspace_id, w.message_id, w.email, w.list_id, $3, '', 0, '', 'deferred', 0, now(),
       least(w.happened_at, now()), nullif($6::text[], '{}'), now(), now()
     from unnest($4::text[], $5::uuid[]) as given (email, id)
     join welcomes w on w.workspace_id = $1 and w.email = given.email and w.list_id = $2 and w.message_id = given.id
     order by w.message_id
     on conflict do nothing`,
    [
      workspaceId,
      listId,
      notificationId,
      due.map(({ email }) => email),
      due.map(({ id }) => id),
      tags,
    ],
  );
}

/**
 * Brings welcomes up to date with their messages. `ended`: ids of messages with an outcome of this
 * round, which is about the periods of `due`.
 */
export async function settleWelcomes(
  store: Store,
  { workspaceId, listId }: ListKey,
  { due, ended }: { due: readonly DueWelcome[]; ended: { has(id: string): boolean } },
): Promise<void> {
  await query(
    store.fork(),
    `with given as materialized (
       select * from unnest($3::text[], $4::uuid[], $5::timestamptz[], $6::boolean[])
         as asked (email, id, active_since, is_ended)
     ), held as materialized (
       select w.workspace_id, w.email, w.message_id as id, w.happened_at,
         w.active_since = w.message_since or (given.is_ended and w.active_since = given.active_since) as is_own
       from given join welcomes w
         on w.workspace_id = $1 and w.email = given.email and w.list_id = $2 and w.message_id = given.id
       -- As requests lock them.
       order by w.email for no key update of w
     ), known as materialized (
       select held.email, m.status, m.sent_at, coalesce(m.due_at, m.lease_until) as again_at,
         m.status in ('deferred', 'sending') as is_open,
         not is_own and (m.status in ('skipped', 'failed', 'cancelled')
           or (m.status = 'sent' and happened_at > m.sent_at + interval '${sameFor}')) as is_renewed
       from held join messages m on ${byKey('m', 'held')}
     ), left_meanwhile as (
       delete from welcomes w using known
       where w.workspace_id = $1 and w.email = known.email and w.list_id = $2
         and known.status = 'skipped' and not is_renewed
     )
     update welcomes w set
       message_id = case when is_renewed then gen_random_uuid() else w.message_id end,
       message_since = case when is_renewed then w.active_since else w.message_since end,
       due_at = case when is_open then greatest(w.due_at, again_at) when is_renewed then w.due_at end,
       done_at = case when not is_open and not is_renewed then coalesce(sent_at, now()) end
     from known
     where w.workspace_id = $1 and w.email = known.email and w.list_id = $2
       and (known.status <> 'skipped' or is_renewed)`,
    [
      workspaceId,
      listId,
      due.map(({ email }) => email),
      due.map(({ id }) => id),
      due.map(({ activeSince }) => activeSince),
      due.map(({ id }) => ended.has(id)),
    ],
  );
}

/** Lists of a workspace with welcomes that wait, by id. */
export async function listsThatWait(
  store: Store,
  workspaceId: string,
  { after, most }: { after: string; most: number },
): Promise<string[]> {
  const rows = await query<{ list_id: string }>(
    store.fork(),
    `with recursive waiting as (
       (select list_id, 1 as place from welcomes
        where workspace_id = $1 and due_at is not null and list_id > $2 order by list_id limit 1)
       union all
       select next.list_id, waiting.place + 1 from waiting cross join lateral (
         select list_id from welcomes
         where workspace_id = $1 and due_at is not null and list_id > waiting.list_id order by list_id limit 1
       ) next
       where waiting.place < $3
     )
     select list_id from waiting order by list_id`,
    [workspaceId, after, most],
  );
  return rows.map(({ list_id: listId }) => listId);
}

/**
 * Drops welcomes of a list that had none at a time, some of them; gives how many. Members who have
 * joined since wait for another one. Messages that wait for another attempt fail.
 */
export async function dropWelcomes(
  store: Store,
  { workspaceId, listId }: ListKey,
  { at, most }: { at: Date; most: number },
): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with given as materialized (
       delete from welcomes where ctid = any(array(
         select ctid from welcomes w
         where workspace_id = $1 and list_id = $2 and due_at is not null and happened_at <= $4 and not exists (
           -- Another process sends it.
           select from messages m
           where m.id = w.message_id and m.workspace_id || '' = $1 and m.status = 'sending' and m.lease_until >= now()
         )
         -- As requests lock them.
         order by email limit $5::int for update
       )) returning workspace_id, message_id as id
     ), failed as (
       update messages m set status = 'failed', status_info = $3, failed_at = now(), updated_at = now(),
         due_at = null, owner = null, lease_until = null
       from given where ${byKey('m')}
         and (m.status = 'deferred' or (m.status = 'sending' and m.lease_until < now()))
     )
     select count(*)::int as count from given`,
    [workspaceId, listId, 'the list has no welcome any more', at, most],
  );
  return row?.count ?? 0;
}

/** Drops the welcomes of contacts that are no longer there. */
export async function dropWelcomesOf(
  em: EntityManager,
  { workspaceId, listId }: ListKey,
  emails: readonly string[],
): Promise<void> {
  await query(
    em,
    'delete from welcomes where workspace_id = $1 and email = any($2::text[]) and list_id = $3',
    [workspaceId, emails, listId],
  );
}

/** Leaves nothing of contacts that were deleted after these periods began. */
export async function forgetWelcomes(
  em: EntityManager,
  workspaceId: string,
  deletedAt: Readonly<Record<string, string>>,
): Promise<void> {
  await query(
    em,
    `delete from welcomes
     where workspace_id = $1 and email = any($2::text[]) and happened_at <= ($3::jsonb ->> email)::timestamptz`,
    [workspaceId, Object.keys(deletedAt), JSON.stringify(deletedAt)],
  );
}

/** Deletes welcomes that were done long ago, some at a time; gives how many. */
export async function clearWelcomes(store: Store, countMax: number): Promise<number> {
  const rows = await query(
    store.fork(),
    `delete from welcomes where ctid = any(array(
       select ctid from welcomes where done_at < now() - interval '${doneKept}' limit $1
     )) returning 1`,
    [countMax],
  );
  return rows.length;
}
