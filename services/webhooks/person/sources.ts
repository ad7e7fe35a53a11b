import { create, type JsonObject, toJson } from '@bufbuild/protobuf';
import { WebhookDeliverySchema } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { PersonSource } from '#lib/postgres/person-records.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { type DeliveryRow, deliveryColumns, deliveryMessage } from '../views/delivery.ts';
import { aboutAddressSql } from './address.ts';

/** A payload may have 256 KiB. */
const rowsMax = 10;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

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
        const rows = await query<{ delivery: DeliveryRow }>(
          store.fork(),
          `select row_to_json(delivery) as delivery from (
             select ${deliveryColumns('found')} from (${aboutAddressSql('$1', '$2')}) found
             where $3 = '' or found.id > nullif($3, '')::uuid
             order by found.id limit ${rowsMax + 1}
           ) delivery`,
          [workspaceId, email, after],
        );
        const page = rows.slice(0, rowsMax).map(({ delivery }) => delivery);
        return {
          records: page.map((row) => ({ kind: 'webhook_delivery', data: dataOf(row) })),
          next: rows.length > rowsMax ? page.at(-1)?.id : undefined,
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
