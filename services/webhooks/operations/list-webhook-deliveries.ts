import type { ListWebhookDeliveriesRequest } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { hasPermission } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { resourceOf } from '../input/event-types.ts';
import { type DeliveryRow, deliveryColumns, deliveryMessage } from '../views/delivery.ts';

const limitDefault = 20;
/** The most deliveries that a page looks at and counts. */
const lookedAtMax = 100_000;

export function listWebhookDeliveries({ store }: Context): Methods['listWebhookDeliveries'] {
  return async (request, call) => {
    const mayRead = (type: string) => hasPermission(call, resourceOf(type), 'read');
    const { limit = limitDefault, offset } = request;
    const { within, wanted, values } = filtersOf(request);
    const [page] = await query<{ total: number; deliveries: DeliveryRow[] | null }>(
      store.fork(),
      composed(`with looked_at as materialized (
         select id, created_at, status, event_type from deliveries where ${within}
         order by created_at desc limit ${lookedAtMax}
       ),
       wanted as materialized (select id, created_at from looked_at where ${wanted})
       select (select count(*)::int from wanted) as total,
         (select json_agg(row_to_json(delivery) order by delivery.created_at desc, delivery.id desc)
          from (
            select id from wanted order by created_at desc, id desc
            limit $${values.length + 1} offset $${values.length + 2}
          ) page
          join lateral (
             select ${deliveryColumns('kept')} from deliveries kept where (workspace_id, id) = ($1, page.id)
           ) delivery on true
         ) as deliveries`),
      [...values, limit, offset],
    );
    return {
      deliveries: (page?.deliveries ?? []).map((row) =>
        deliveryMessage(mayRead(row.event_type) ? row : { ...row, payload: {} }),
      ),
      total: page?.total ?? 0,
      limit,
      offset,
    };
  };
}

/** `within` is answered by an index, `wanted` row by row. */
function filtersOf(request: ListWebhookDeliveriesRequest) {
  const values: unknown[] = [request.workspaceId];
  const bound = (value: unknown) => `$${values.push(value)}`;
  const within = ['workspace_id = $1'];
  if (request.subscriptionId) within.push(`subscription_id = ${bound(request.subscriptionId)}`);
  if (request.id) within.push(`id = ${bound(request.id)}::uuid`);
  const since = readTime('since', request.since);
  const until = readTime('until', request.until);
  if (since) within.push(`created_at >= ${bound(since)}`);
  if (until) within.push(`created_at < ${bound(until)}`);
  const wanted = ['true'];
  if (request.status) wanted.push(`status = ${bound(request.status)}`);
  if (request.eventType) wanted.push(`event_type = ${bound(request.eventType)}`);
  return { within: within.join(' and '), wanted: wanted.join(' and '), values };
}
