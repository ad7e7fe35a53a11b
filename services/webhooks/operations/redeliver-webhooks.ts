import type { RedeliverWebhooksRequest } from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { payloadTooLarge } from '../delivery.ts';
import { isDeliveryId } from '../input/delivery-id.ts';
import { lockSubscription } from '../subscription-queries.ts';

const redeliveredMax = 10_000;

export function redeliverWebhooks({
  store,
  databaseTime,
  backlog,
}: Context): Methods['redeliverWebhooks'] {
  return async (request, call) => {
    if ((request.deliveryId === '') === (request.since === undefined)) {
      throw invalidField('delivery_id', 'either delivery_id or since is required');
    }
    const answer = await auditedTransaction(store, call, async (em) => {
      await lockSubscription(em, request);
      const redelivered = await redeliver(em, request, databaseTime());
      if (redelivered === 0 && request.deliveryId !== '') {
        throw refusal('WEBHOOK_DELIVERY_NOT_FOUND', 'Failed webhook delivery not found');
      }
      return { redelivered };
    });
    backlog.added(request.workspaceId, new Map([[request.id, answer.redelivered]]), 0);
    return answer;
  };
}

/** The dispatcher finds them within a second. */
async function redeliver(
  em: EntityManager,
  { workspaceId, id, deliveryId, since: given }: RedeliverWebhooksRequest,
  now: Date | undefined,
): Promise<number> {
  if (deliveryId !== '' && !isDeliveryId(deliveryId)) return 0;
  const since = readTime('since', given);
  const [condition, value] = since
    ? ['created_at >= $3::timestamptz', since]
    : ['id = $3::uuid', deliveryId];
  const rows = await query<{ count: number }>(
    em,
    `with chosen as (
       select id from deliveries
       where workspace_id = $1 and subscription_id = $2 and status = 'failed' and ${condition}
         and last_error is distinct from $5
       order by created_at limit ${redeliveredMax} for update skip locked
     ),
     redelivered as (
       update deliveries set status = 'pending', attempts = 0, claimed_attempt = null, next_attempt_at = coalesce($4::timestamptz, now())
       where workspace_id = $1 and id in (select id from chosen)
       returning 1
     )
     select count(*)::int as count from redelivered`,
    [workspaceId, id, value, now?.toISOString() ?? null, payloadTooLarge],
  );
  return rows[0]?.count ?? 0;
}
