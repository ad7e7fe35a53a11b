import { addJob } from '#lib/jobs/jobs.ts';
import { hiddenArray } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { satellites } from '../message-queries.ts';
import { requestConfirmations } from './confirmations.ts';
import { countStep } from './variation-counts.ts';
import { forgetWelcomes } from './welcomes.ts';

/** Contacts that were deleted: when each address was, by the address. */
export type Deletions = { workspaceId: string; deletedAt: Readonly<Record<string, string>> };

const forgetTask = 'forgetContacts';

/**
 * Longer than from the question to contacts until a message is written, which waits for a busy
 * database.
 */
const againAfterMs = 60_000;

/**
 * Forgets contacts now and once more a minute later. A message that contacts was asked about before
 * the deletion may be written after it; its time is that of the question, so that the second pass
 * finds it. Contacts without a time were deleted now.
 */
export async function forgetTwice(
  em: EntityManager,
  workspaceId: string,
  deletions: ReadonlyMap<string, string | null>,
): Promise<void> {
  // The second pass must not take what is newer than the first.
  const [row] = await query<{ deleted_at: Record<string, string> }>(
    em,
    `select jsonb_object_agg(email, least(at::timestamptz, now())) as deleted_at
     from jsonb_each_text($1::jsonb) as given (email, at)`,
    [JSON.stringify(Object.fromEntries(deletions))],
  );
  const payload = { workspaceId, deletedAt: row?.deleted_at ?? {} };
  await forget(em, payload);
  const runAt = new Date(Date.now() + againAfterMs);
  await addJob(em, 'messages', { task: forgetTask, payload, runAt });
}

/** Of a table in one pass; those that are left have a pass of their own. */
const rowsMax = 5_000;

/**
 * The history keeps the messages without the address and the content; waiting messages are not
 * sent. An address may have had more messages than a statement can change in its time: the newest
 * are first, among which are those that wait.
 */
export async function forget(em: EntityManager, deletions: Deletions): Promise<void> {
  const { workspaceId, deletedAt: at } = deletions;
  const values = [workspaceId, Object.keys(at), JSON.stringify(at)];
  const sinceBefore = `coalesce(m.consent_at, m.created_at) <= ${deletedAt('m.contact_email')}`;
  // Before messages, as the job that applies reports locks them. By key, since one that is applied
  // meanwhile moves.
  const reports = await query(
    em,
    `with chosen as materialized (
       select id from inbound_reports where workspace_id = $1 and email = any($2::text[])
         and received_at <= ${deletedAt('email')} limit ${rowsMax}
     )
     delete from inbound_reports r using chosen where r.id = chosen.id and r.workspace_id || '' = $1
     returning 1`,
    values,
  );
  const newest = await query<{ id: string }>(
    em,
    `select newest.id from unnest(${hiddenArray('$2::text[]')}) as given (email) cross join lateral (
       select m.id from messages m
       where m.workspace_id = $1 and m.contact_email = given.email and m.contact_email <> '' and ${sinceBefore}
       order by m.created_at desc limit ${rowsMax}
     ) newest limit ${rowsMax}`,
    values,
  );
  // The address is hidden from the planner, so that each message is one look by key.
  const isOne = `m.workspace_id = $1 and m.id = any($4::uuid[])
    and m.contact_email || '' = any($2::text[]) and ${sinceBefore}`;
  const ids = newest.map(({ id }) => id);
  // Locks the rows, so that later statements see the final state: contents that are being stored
  // have locked their messages.
  await query(em, `select from messages m where ${isOne} order by m.id for no key update`, [
    ...values,
    ids,
  ]);
  await query(
    em,
    `with forgotten as materialized (
       update messages m set contact_email = '', updated_at = now(), owner = null, lease_until = null, due_at = null,
         status = case when m.status in ('deferred', 'sending') then 'skipped' else m.status end,
         status_info = case when m.status in ('deferred', 'sending') then 'removed' else m.status_info end
       from messages before
       where ${isOne} and before.workspace_id = m.workspace_id and before.id = m.id
       returning m.workspace_id, m.id, m.broadcast_id, m.template_id, m.by_hand,
         (before.status in ('deferred', 'sending'))::int as skipped, -(before.status = 'deferred')::int as deferred
     ), ${satellites.map(deletion).join(', ')},
     ${countStep('forgotten', { skipped: 'skipped', deferred: 'deferred' })}
     select`,
    [...values, ids],
  );
  if (ids.length === rowsMax || reports.length === rowsMax) {
    await addJob(em, 'messages', { task: forgetTask, payload: deletions });
  }
  await forgetWelcomes(em, workspaceId, at);
  const requests = await query<{ email: string; list_id: string; asked_at: string | null }>(
    em,
    `delete from confirmations
     where workspace_id = $1 and email = any($2::text[]) and mailed_at <= ${deletedAt('email')}
     returning email, list_id,
       case when asked_at > ${deletedAt('email')} then to_json(asked_at) #>> '{}' end as asked_at`,
    values,
  );
  // The contact has come back since, and its request met the cool-down of the one that was deleted.
  const returned = requests.flatMap(({ email, list_id: listId, asked_at: at }) =>
    at === null ? [] : [{ email, listId, at }],
  );
  if (returned.length > 0) await requestConfirmations(em, workspaceId, returned);
  // The address stays, so that it is never mailed again; what people wrote about it does not.
  await query(
    em,
    `update suppressions set note = null
     where workspace_id = $1 and email = any($2::text[]) and note is not null
       and created_at <= ${deletedAt('email')}`,
    values,
  );
}

/** SQL of when an address was deleted. */
function deletedAt(email: string): string {
  return `($3::jsonb ->> ${email})::timestamptz`;
}

/** The workspace is hidden from the planner, so that each message is one look by key. */
function deletion(table: string): string {
  return `gone_${table} as (
    delete from ${table} t using forgotten
    where t.message_id = forgotten.id and t.workspace_id || '' = forgotten.workspace_id
  )`;
}
