/*
 * Data that this service keeps: of a workspace (erased with it), of a person (exported), and sealed
 * (sealed anew by `rotate-secrets`). A new table gets its lines here; its retention is a task.
 */

import { create, type JsonObject, type JsonValue, toJson } from '@bufbuild/protobuf';
import {
  ListMessagesRequestSchema,
  MessageContentSchema,
  MessageSchema,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { ErasedTable } from '#lib/postgres/erase.ts';
import { type PersonSource, personTable } from '#lib/postgres/person-records.ts';
import { query } from '#lib/postgres/query.ts';
import { resealEach, type SealedColumn } from '#lib/postgres/reseal.ts';
import type { Store } from '#lib/postgres/store.ts';
import { type KeptContext, readKeptContent } from './archive/kept.ts';
import { readMessages } from './history/messages.ts';
import { satellites } from './message-queries.ts';
import { toMessageContent } from './views/message-content.ts';

const messagesAtOnce = 500;

/**
 * What this service keeps of a workspace. The queue comes first, so that nothing of it is sent any
 * more.
 */
export function erasedTables(store: Store): readonly ErasedTable[] {
  return [
    { table: 'message_requests', where: 'due_at is not null' },
    { table: 'confirmations' },
    { table: 'open_confirmations' },
    { table: 'notifications' },
    { table: 'messages', erase: (workspaceId) => eraseMessages(store, workspaceId) },
    ...satellites.map((table) => ({ table })),
    { table: 'link_sets' },
    { table: 'link_clicks' },
    { table: 'variation_counts' },
    { table: 'uncounted_broadcasts' },
    { table: 'suppressions' },
    { table: 'sending_rates' },
    { table: 'event_interests' },
    { table: 'idempotency_keys' },
  ];
}

/**
 * The workspace is hidden from the planner, so that what belongs to a message is found by its key.
 */
async function eraseMessages(store: Store, workspaceId: string): Promise<number> {
  const beside = satellites.map(
    (table) => `gone_${table} as (
      delete from ${table} t using gone where t.message_id = gone.id and t.workspace_id || '' = $1
    )`,
  );
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as materialized (
       delete from messages where ctid = any(array(
         select ctid from messages where workspace_id = $1 limit ${messagesAtOnce}
       )) returning id
     ), ${beside.join(', ')}
     select count(*)::int as count from gone`,
    [workspaceId],
  );
  return row?.count ?? 0;
}

/** A mail that is kept may have 2 MiB. */
const messagesMax = 5;

type Person = { workspaceId: string; email: string };

/** What this service keeps about a person. */
export function personSources(context: KeptContext, person: Person): PersonSource[] {
  return [
    personTable(context.store, person, { kind: 'suppression', table: 'suppressions' }),
    personTable(context.store, person, {
      kind: 'confirmation',
      table: 'confirmations',
      key: 'held.list_id',
    }),
    messageSource(context, person),
  ];
}

function messageSource(context: KeptContext, { workspaceId, email }: Person): PersonSource {
  return {
    name: 'message',
    async read(cursor) {
      const request = create(ListMessagesRequestSchema, {
        workspaceId,
        contactEmail: email,
        cursor,
      });
      const { messages, nextCursor } = await readMessages(context, request, messagesMax);
      const records = messages.map(async (message) => {
        const mail = await readKeptContent(context, { workspaceId, id: message.id ?? '' });
        const data = {
          ...objectOf(toJson(MessageSchema, create(MessageSchema, message), inSnakeCase)),
          ...(mail && {
            content: toJson(
              MessageContentSchema,
              create(MessageContentSchema, await toMessageContent(mail)),
              inSnakeCase,
            ),
          }),
        };
        return { kind: 'message', data };
      });
      return { records: await Promise.all(records), next: nextCursor };
    },
  };
}

const inSnakeCase = { useProtoFieldName: true };

function objectOf(json: JsonValue): JsonObject {
  return json !== null && typeof json === 'object' && !Array.isArray(json) ? json : {};
}

/** Everything that this service stores sealed. */
export function sealedColumns(keyring: Keyring): SealedColumn<Buffer>[] {
  const boxed = (table: string, column: string, purpose: string): SealedColumn<Buffer> => ({
    ...{ table, isIdFirst: true },
    ...{ id: { name: 'message_id', type: 'uuid' }, type: 'bytea', batchRows: 50 },
    ...{ read: `t.${column}`, column, write: 'given.value' },
    reseal: resealEach(
      ({ workspaceId, value }) => keyring.box(purpose, workspaceId).isCurrent(value),
      async ({ workspaceId, id, value }) => {
        const plain = await keyring.openBox(purpose, workspaceId, value, id);
        return keyring.box(purpose, workspaceId).seal(plain, id);
      },
    ),
  });
  return [
    boxed('message_requests', 'request', 'message-requests'),
    boxed('message_contents', 'content', 'message-contents'),
  ];
}
