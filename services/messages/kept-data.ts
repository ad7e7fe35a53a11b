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
import { sealedPlace, sealedPurpose } from './reports/keys.ts';
import { requestPlace } from './reports/requests.ts';
import { openRaw, rawPlace } from './reports/store.ts';
import { bodyPlace } from './transactional/content.ts';
import type { MailReader } from './views/mail-reader.ts';

const messagesAtOnce = 500;

/**
 * Tables with a workspace's data. The queue comes first, so that nothing of it is sent any more.
 */
export function erasedTables(store: Store): readonly ErasedTable[] {
  return [
    { table: 'message_requests', where: 'due_at is not null' },
    { table: 'welcomes' },
    { table: 'confirmations' },
    { table: 'open_confirmations' },
    { table: 'notifications' },
    { table: 'messages', erase: (workspaceId) => eraseMessages(store, workspaceId) },
    ...satellites.map((table) => ({ table })),
    { table: 'link_sets' },
    { table: 'link_clicks' },
    { table: 'variation_counts' },
    { table: 'broadcast_senders' },
    { table: 'domain_tests' },
    { table: 'uncounted_broadcasts' },
    { table: 'suppressions' },
    { table: 'lifted_suppressions' },
    { table: 'report_keys' },
    { table: 'inbound_requests' },
    { table: 'inbound_reports' },
    { table: 'sending_rates' },
    { table: 'receiver_rates' },
    { table: 'receiver_pauses' },
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

type ExportContext = KeptContext & { reader: MailReader };

type Person = { workspaceId: string; email: string };

/** Tables with a person's data. */
export function personSources(context: ExportContext, person: Person): PersonSource[] {
  return [
    personTable(context.store, person, { kind: 'suppression', table: 'suppressions' }),
    personTable(context.store, person, {
      kind: 'lifted_suppression',
      table: 'lifted_suppressions',
    }),
    personTable(context.store, person, {
      kind: 'confirmation',
      table: 'confirmations',
      key: 'held.list_id',
    }),
    personTable(context.store, person, {
      kind: 'welcome',
      table: 'welcomes',
      key: 'held.list_id',
    }),
    reportSource(context, person),
    messageSource(context, person),
  ];
}

/** Reports, each with its raw JSON. */
function reportSource(context: KeptContext, person: Person): PersonSource {
  const source = personTable(context.store, person, {
    kind: 'inbound_report',
    table: 'inbound_reports',
    time: 'held.occurred_at',
    key: 'held.id',
    json: `to_jsonb(held) - 'workspace_id' - 'raw' || jsonb_build_object('raw', encode(held.raw, 'base64'))`,
  });
  const { workspaceId } = person;
  return {
    ...source,
    async read(place) {
      const { records, next } = await source.read(place);
      const opened = records.map(({ kind, data: { raw, ...rest } }) => {
        const sealed = typeof raw === 'string' ? Buffer.from(raw, 'base64') : undefined;
        const key = { workspaceId, id: `${rest.id}` };
        return {
          kind,
          data: { ...rest, raw: sealed ? openRaw(context.keyring, { ...key, raw: sealed }) : null },
        };
      });
      return { records: opened, next };
    },
  };
}

function messageSource(context: ExportContext, { workspaceId, email }: Person): PersonSource {
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
              create(MessageContentSchema, await context.reader.read(mail, workspaceId)),
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
  const boxed = (
    table: string,
    column: string,
    { purpose, key, placeOf, type = 'uuid', batchRows = 50 }: BoxedRows,
  ): SealedColumn<Buffer> => ({
    ...{ table, isIdFirst: type === 'uuid' },
    ...{ id: { name: key, type }, type: 'bytea', batchRows },
    ...{ read: `t.${column}`, column, write: 'given.value' },
    reseal: resealEach(
      ({ workspaceId, value }) => keyring.box(purpose, workspaceId).isCurrent(value),
      async ({ workspaceId, id, value }) => {
        const plain = await keyring.openBox(purpose, workspaceId, value, placeOf(id));
        return keyring.box(purpose, workspaceId).seal(plain, placeOf(id));
      },
    ),
  });
  const ofMessages = { key: 'message_id', placeOf: (id: string) => id };
  return [
    boxed('message_requests', 'request', { purpose: 'message-requests', ...ofMessages }),
    boxed('message_bodies', 'body', {
      ...{ purpose: 'message-requests', key: 'message_id', placeOf: bodyPlace, batchRows: 1 },
    }),
    boxed('message_contents', 'content', { purpose: 'message-contents', ...ofMessages }),
    boxed('inbound_reports', 'raw', { purpose: sealedPurpose, key: 'id', placeOf: rawPlace }),
    boxed('inbound_requests', 'content', {
      ...{ purpose: sealedPurpose, key: 'id', placeOf: requestPlace },
    }),
    boxed('report_keys', 'sealed', {
      ...{ purpose: sealedPurpose, key: 'integration_id', placeOf: sealedPlace },
      type: 'text',
    }),
  ];
}

/** Rows with a sealed value: their purpose, the column of their ids, and where each is sealed. */
type BoxedRows = {
  purpose: string;
  key: string;
  placeOf(id: string): string;
  /** Fewer where a value may be large. */
  batchRows?: number;
  /** Of the ids; `uuid` if absent, with which the primary key begins. */
  type?: 'text' | 'uuid';
};
