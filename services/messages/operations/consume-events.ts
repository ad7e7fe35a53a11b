import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import { consumeOnce } from '#lib/jobs/consume.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { satellites } from '../message-queries.ts';
import { type ConfirmationRequest, requestConfirmations } from '../record/confirmations.ts';
import { countStep } from '../record/variation-counts.ts';

type Handler = (em: EntityManager, workspaceId: string, events: readonly Event[]) => Promise<void>;

/**
 * Events come late and in no order, so each touches only what is not younger than it. Their times and those of messages come
 * from different clocks; one that is ahead of the database's counts as its present. At the same time the deletion wins.
 */
export const handlers: Readonly<Record<string, Handler>> = {
  'confirmation.due': (em, workspaceId, events) =>
    requestConfirmations(em, workspaceId, events.map(requestOf).filter(isWhole)),
  'contact.deleted': (em, workspaceId, events) => forget(em, workspaceId, deletionsOf(events)),
};

export function consumeEvents({ store }: Context): Methods['consumeEvents'] {
  return async (request) => {
    const { workspaceId, events } = request;
    await consumeOnce(store, request, async (em) => {
      for (const [type, handle] of Object.entries(handlers)) {
        const some = events.filter((event) => event.type === type);
        if (some.length > 0) await handle(em, workspaceId, some);
      }
    });
    return {};
  };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** In RFC 3339, with all its digits. */
function timeOf({ occurredAt }: Event): string | undefined {
  return occurredAt && toJson(TimestampSchema, occurredAt);
}

function requestOf(event: Event): ConfirmationRequest {
  const { email, list_id: listId } = JSON.parse(event.dataJson);
  return { email: textOf(email), listId: textOf(listId), at: timeOf(event) };
}

const isWhole = ({ email, listId }: ConfirmationRequest) => email !== '' && listId !== '';

/** When each address was deleted last; null for now. */
type Deletions = ReadonlyMap<string, string | null>;

function deletionsOf(events: readonly Event[]): Deletions {
  const byTime = events.toSorted((a, b) => msOf(a) - msOf(b));
  return new Map(
    byTime.map((event) => [
      textOf(JSON.parse(event.dataJson).contact?.email),
      timeOf(event) ?? null,
    ]),
  );
}

function msOf({ occurredAt }: Event): number {
  return occurredAt ? timestampMs(occurredAt) : Number.MAX_SAFE_INTEGER;
}

/** The history keeps the messages without the address and the content; waiting messages are not sent. */
async function forget(em: EntityManager, workspaceId: string, deletions: Deletions) {
  const values = [
    workspaceId,
    [...deletions.keys()],
    JSON.stringify(Object.fromEntries(deletions)),
  ];
  const olderMessage = `m.workspace_id = $1 and m.contact_email = any($2::text[]) and m.contact_email <> ''
    and coalesce(m.consent_at, m.created_at) <= ${deletedAt('m.contact_email')}`;
  // What the statements after it see is final: contents that are being stored have locked their messages.
  await query(
    em,
    `select from messages m where ${olderMessage} order by id for no key update`,
    values,
  );
  await query(
    em,
    `with forgotten as materialized (
       update messages m set contact_email = '', updated_at = now(), owner = null, lease_until = null, due_at = null,
         status = case when m.status in ('deferred', 'sending') then 'skipped' else m.status end,
         status_info = case when m.status in ('deferred', 'sending') then 'removed' else m.status_info end
       from messages before
       where ${olderMessage}
         and before.workspace_id = m.workspace_id and before.id = m.id
       returning m.workspace_id, m.id, m.broadcast_id, m.template_id, m.by_hand,
         (before.status in ('deferred', 'sending'))::int as skipped, -(before.status = 'deferred')::int as deferred
     ), ${satellites.map(deletion).join(', ')},
     ${countStep('forgotten', { skipped: 'skipped', deferred: 'deferred' })}
     select`,
    values,
  );
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

/** SQL of when an address was deleted, not after now. `least` passes over null. */
function deletedAt(email: string): string {
  return `least(($3::jsonb ->> ${email})::timestamptz, now())`;
}

/** The workspace is hidden from the planner, so that each message is one look by key. */
function deletion(table: string): string {
  return `gone_${table} as (
    delete from ${table} t using forgotten
    where t.message_id = forgotten.id and t.workspace_id || '' = forgotten.workspace_id
  )`;
}
