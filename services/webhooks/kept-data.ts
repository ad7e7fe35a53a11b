/*
 * Data that this service keeps: of a workspace (erased with it), of a person (exported), and sealed
 * (sealed anew by `rotate-secrets`). A new table gets its lines here; its retention is a task.
 */

import { create, type JsonObject, toJson } from '@bufbuild/protobuf';
import { WebhookDeliverySchema } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { pageOf, pageSql } from '#lib/limits/page.ts';
import type { ErasedTable } from '#lib/postgres/erase.ts';
import type { PersonSource } from '#lib/postgres/person-records.ts';
import { query } from '#lib/postgres/query.ts';
import { resealEach, type SealedColumn } from '#lib/postgres/reseal.ts';
import type { Store } from '#lib/postgres/store.ts';
import { isSealedNow, openSecret, sealSecret } from './callback/secret.ts';
import { beforeAllIds, pageAboutAddressSql } from './erasing/address.ts';
import { addWakes } from './lifecycle/wake.ts';
import type { Dispatcher } from './sending/dispatcher.ts';
import { type DeliveryRow, deliveryColumns, deliveryMessage } from './views/delivery.ts';

type Needs = { store: Store; dispatcher: Dispatcher };

/**
 * Tables with rows of a workspace, in the order in which they are erased. A run whose subscription
 * is gone ends.
 */
export function erasedTables(context: Needs): readonly ErasedTable[] {
  return [
    { table: 'subscriptions', erase: (workspaceId) => eraseSubscriptions(context, workspaceId) },
    { table: 'listeners' },
    { table: 'deliveries' },
    { table: 'events' },
    { table: 'workspace_interests' },
    { table: 'idempotency_keys' },
  ];
}

/** A workspace has at most a hundred. */
async function eraseSubscriptions(
  { store, dispatcher }: Needs,
  workspaceId: string,
): Promise<number> {
  const rows = await store.fork().transactional(async (em) => {
    const gone = await query<{ id: string; is_waiting: boolean }>(
      em,
      `delete from subscriptions where workspace_id = $1
       returning id, next_wake_at is not null as is_waiting`,
      [workspaceId],
    );
    const waiting = gone.filter(({ is_waiting }) => is_waiting);
    await addWakes(
      em,
      waiting.map(({ id }) => ({ key: { workspaceId, id }, host: '' })),
    );
    return gone;
  });
  for (const { id } of rows) await dispatcher.recall({ workspaceId, id });
  return rows.length;
}

/** A page also ends with 4 MiB: a payload may have 256 KiB. */
const rowsMax = 50;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const personSql = pageSql(
  `select id, row_to_json(delivery)::text as delivery from (
     select ${deliveryColumns('found')} from (
       ${pageAboutAddressSql({ workspaceId: '$1', email: '$2', after: '$3', limit: rowsMax + 1 })}
     ) found
   ) delivery`,
  { text: 'delivery', order: 'id' },
);

/** The deliveries that are about a person, by id. */
export function personSources(
  store: Store,
  { workspaceId, email }: { workspaceId: string; email: string },
): PersonSource[] {
  return [
    {
      name: 'webhook_delivery',
      async read(after) {
        if (after !== '' && !uuid.test(after)) throw invalidField('cursor', 'invalid cursor');
        const rows = await query<{ id: string; delivery: string }>(store.fork(), personSql, [
          workspaceId,
          email,
          after || beforeAllIds,
        ]);
        const { page, isLast } = pageOf(rows, rowsMax, ({ delivery }) =>
          Buffer.byteLength(delivery),
        );
        return {
          records: page.map(({ delivery }) => ({
            kind: 'webhook_delivery',
            data: dataOf(JSON.parse(delivery)),
          })),
          next: isLast ? undefined : page.at(-1)?.id,
        };
      },
    },
  ];
}

function dataOf(row: DeliveryRow): JsonObject {
  const delivery = create(WebhookDeliverySchema, deliveryMessage(row));
  const json = toJson(WebhookDeliverySchema, delivery, { useProtoFieldName: true });
  return json as JsonObject;
}

/** Everything that this service stores sealed. */
export function sealedColumns(keyring: Keyring): SealedColumn<string>[] {
  return [
    {
      table: 'subscriptions',
      ...{ id: { name: 'id', type: 'text' }, type: 'text', batchRows: 200 },
      ...{ read: 't.sealed_secret', column: 'sealed_secret', write: 'given.value' },
      reseal: resealEach(
        ({ workspaceId, value }) => isSealedNow(keyring, workspaceId, value),
        ({ workspaceId, id, value }) => {
          const key = { workspaceId, id };
          return sealSecret(keyring, key, openSecret(keyring, key, value));
        },
      ),
    },
  ];
}
