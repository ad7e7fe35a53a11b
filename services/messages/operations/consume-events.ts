import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import { consumeOnce } from '#lib/jobs/consume.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { satellites } from '../message-queries.ts';
import { requestConfirmations } from '../record/confirmations.ts';
import { countStep } from '../record/variation-counts.ts';

export function consumeEvents({ store }: Context): Methods['consumeEvents'] {
  return async (request) => {
    const { workspaceId, events } = request;
    await consumeOnce(store, request, async (em) => {
      const pending = events.filter(({ type }) => type === 'confirmation.due').map(membershipOf);
      if (pending.length > 0) await requestConfirmations(em, workspaceId, pending);
      const deleted = events.filter(({ type }) => type === 'contact.deleted').map(addressOf);
      if (deleted.length > 0) await forget(em, workspaceId, deleted);
    });
    return {};
  };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

function membershipOf({ dataJson }: Event): { email: string; listId: string } {
  const { email, list_id: listId } = JSON.parse(dataJson);
  return { email: textOf(email), listId: textOf(listId) };
}

function addressOf({ dataJson }: Event): string {
  return textOf(JSON.parse(dataJson).contact?.email);
}

/** The history keeps the messages without the address and the content; waiting messages are not sent. */
async function forget(em: EntityManager, workspaceId: string, emails: readonly string[]) {
  const values = [workspaceId, emails];
  // What the statements after it see is final: contents that are being stored have locked their messages.
  await query(
    em,
    `select from messages where workspace_id = $1 and contact_email = any($2::text[]) and contact_email <> ''
     order by id for no key update`,
    values,
  );
  await query(
    em,
    `with forgotten as materialized (
       update messages m set contact_email = '', updated_at = now(), owner = null, lease_until = null, due_at = null,
         status = case when m.status in ('deferred', 'sending') then 'skipped' else m.status end,
         status_info = case when m.status in ('deferred', 'sending') then 'removed' else m.status_info end
       from messages before
       where m.workspace_id = $1 and m.contact_email = any($2::text[]) and m.contact_email <> ''
         and before.workspace_id = m.workspace_id and before.id = m.id
       returning m.workspace_id, m.id, m.broadcast_id, m.template_id, m.by_hand,
         (before.status in ('deferred', 'sending'))::int as skipped, -(before.status = 'deferred')::int as deferred
     ), ${satellites.map(deletion).join(', ')},
     ${countStep('forgotten', { skipped: 'skipped', deferred: 'deferred' })}
     select`,
    values,
  );
  await query(
    em,
    'delete from confirmations where workspace_id = $1 and email = any($2::text[])',
    values,
  );
  // The address stays, so that it is never mailed again; what people wrote about it does not.
  await query(
    em,
    `update suppressions set note = null
     where workspace_id = $1 and email = any($2::text[]) and note is not null`,
    values,
  );
}

/** The workspace is hidden from the planner, so that each message is one look by key. */
function deletion(table: string): string {
  return `gone_${table} as (
    delete from ${table} t using forgotten
    where t.message_id = forgotten.id and t.workspace_id || '' = forgotten.workspace_id
  )`;
}
