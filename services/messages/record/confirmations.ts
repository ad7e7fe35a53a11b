import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';

export type ListKey = { workspaceId: string; listId: string };

/** The messages in the queue of a list, each by one look into the primary key. */
const openMessages = `(
  select m.* from open_confirmations o cross join lateral (
    select * from messages where workspace_id = o.workspace_id and id = o.message_id offset 0
  ) m
  where o.workspace_id = $1 and o.list_id = $2
) open`;

/**
 * At most one confirmation mail to an address about a list in this time, however often a form is
 * posted.
 */
const coolDown = '1 hour';
const isCool = `c.mailed_at <= excluded.mailed_at - interval '${coolDown}'`;

/** Links in older mails no longer confirm. */
export const confirmableMs = 7 * 24 * 60 * 60 * 1000;

/** A request for a confirmation mail. `at`: when the person asked, in RFC 3339; now if absent. */
export type ConfirmationRequest = { email: string; listId: string; at?: string | undefined };

/**
 * Queues confirmation mails for pending memberships and adds a job for each list. A request within
 * the cool-down is only noted: if the contact that got the mail turns out to have been deleted
 * before it, it gets its own. Commits with the caller.
 */
export async function requestConfirmations(
  em: EntityManager,
  workspaceId: string,
  pending: readonly ConfirmationRequest[],
): Promise<void> {
  const lists = await query<{ list_id: string }>(
    em,
    `with noted as (
       insert into confirmations as c (workspace_id, email, list_id, mailed_at)
       select $1, email, list_id, least(max(at), now())
       from unnest($2::text[], $3::text[], $4::timestamptz[]) as given (email, list_id, at)
       group by email, list_id order by email, list_id
       on conflict (workspace_id, email, list_id) do update set
         mailed_at = case when ${isCool} then excluded.mailed_at else c.mailed_at end,
         asked_at = case when ${isCool} then null else greatest(c.asked_at, excluded.mailed_at) end
       returning email, list_id, mailed_at, asked_at
     ), queued as (
       insert into messages (workspace_id, id, contact_email, list_id, template_id, template_version,
         integration_id, status, attempts, due_at, consent_at, created_at, updated_at)
       select $1, gen_random_uuid(), email, list_id, '', 0, '', 'deferred', 0, now(), mailed_at, now(), now()
       from noted where asked_at is null
       returning workspace_id, list_id, id
     ), opened as (
       insert into open_confirmations (workspace_id, list_id, message_id) select * from queued
     )
     select distinct list_id from queued order by list_id`,
    [
      workspaceId,
      pending.map(({ email }) => email),
      pending.map(({ listId }) => listId),
      pending.map(({ at }) => at ?? null),
    ],
  );
  for (const { list_id: listId } of lists) await addSending(em, { workspaceId, listId });
}

/** Re-subscribing after a confirmation sends the next mail immediately. */
export async function endCoolDown(
  store: Store,
  { workspaceId, email, listId }: ListKey & { email: string },
): Promise<void> {
  await query(
    store.fork(),
    'delete from confirmations where workspace_id = $1 and email = $2 and list_id = $3',
    [workspaceId, email, listId],
  );
}

/** Leaves nothing of contacts that are no longer there. */
export async function forgetRequests(
  em: EntityManager,
  { workspaceId, listId }: ListKey,
  emails: readonly string[],
): Promise<void> {
  if (emails.length === 0) return;
  await query(
    em,
    'delete from confirmations where workspace_id = $1 and list_id = $2 and email = any($3::text[])',
    [workspaceId, listId, emails],
  );
}

/** Adds the job that sends a list's confirmation mails. */
export async function addSending(em: EntityManager, key: ListKey, runAt?: Date): Promise<void> {
  await addJob(em, 'messages', {
    task: 'sendConfirmations',
    payload: key,
    key: `confirmations/${key.workspaceId}/${key.listId}`,
    // A workspace whose server is slow takes one place of the lane.
    queue: `confirmations/${key.workspaceId}`,
    ...(runAt ? { runAt } : {}),
  });
}

/**
 * Confirmation mails that are due, or whose lease is over. Messages with an outcome leave the
 * queue.
 */
export async function readDue(
  store: Store,
  { workspaceId, listId }: ListKey,
  countMax: number,
): Promise<[id: string, email: string][]> {
  const em = store.fork();
  await query(
    em,
    `delete from open_confirmations o using messages m
     where o.workspace_id = $1 and o.list_id = $2 and m.workspace_id = $1 and m.id = o.message_id
       and m.status not in ('deferred', 'sending')`,
    [workspaceId, listId],
  );
  const rows = await query<{ id: string; contact_email: string }>(
    em,
    `select id, contact_email from ${openMessages}
     where coalesce(due_at, lease_until) <= now()
     order by coalesce(due_at, lease_until) limit $3`,
    [workspaceId, listId, countMax],
  );
  return rows.map((row) => [row.id, row.contact_email]);
}

/** When the next confirmation mail of a list is due, or its sender's lease ends. */
export async function readNextDue(
  em: EntityManager,
  { workspaceId, listId }: ListKey,
): Promise<Date | undefined> {
  const [row] = await query<{ due_at: string | null }>(
    em,
    `select min(coalesce(due_at, lease_until)) as due_at from ${openMessages}
     where status in ('deferred', 'sending')`,
    [workspaceId, listId],
  );
  return row?.due_at ? new Date(row.due_at) : undefined;
}

/**
 * Fails messages that can't be sent until the owner changes something, except those that another
 * process has sent or sends; gives the ids. Messages to `removed` addresses keep no address.
 */
export async function failDue(
  em: EntityManager,
  workspaceId: string,
  { ids, info, removed }: { ids: readonly string[]; info: string; removed: readonly string[] },
): Promise<Set<string>> {
  const failed = await query<{ id: string }>(
    em,
    `update messages set status = 'failed', status_info = $3, failed_at = now(), updated_at = now(),
       due_at = null, owner = null, lease_until = null,
       contact_email = case when contact_email = any($4::text[]) then '' else contact_email end
     where workspace_id = $1 and id = any($2::uuid[]) and broadcast_id is null
       and (status = 'deferred' or (status = 'sending' and lease_until < now()))
     returning id`,
    [workspaceId, ids, info, removed],
  );
  return new Set(failed.map(({ id }) => id));
}

/** Longer than the cool-down, and than any event is late; as long as a link confirms. */
const requestsKept = '7 days';

/** Deletes old requests, some at a time; gives how many. */
export async function clearRequests(store: Store, countMax: number): Promise<number> {
  const rows = await query(
    store.fork(),
    `delete from confirmations where ctid = any(array(
       select ctid from confirmations
       where greatest(mailed_at, asked_at) < now() - interval '${requestsKept}' limit $1
     )) returning 1`,
    [countMax],
  );
  return rows.length;
}
