import { fromJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { orderedTimeSql } from '#lib/postgres/time-sql.ts';
import type { Context, Methods } from '../context.ts';
import { occurredAtSql, payloadSql } from '../delivery.ts';
import { isDeliveryId } from '../input/delivery-id.ts';
import { requireReading } from '../input/rights.ts';
import { idleMs, type ListenerKey } from '../listening/listener.ts';
import { type WaitingRow, waitingMessage } from '../views/listener.ts';

const eventsMax = 100;
/** Of the payloads; the last one that is given may go beyond it. */
const bytesMax = 1_024 * 1_024;

/** `expires_at` is RFC 3339. */
type TakingRow = { event_types: string[]; dropped: number; expires_at: string };

/** Nothing is taken by a caller who may not read it: the transaction ends with the refusal. */
export function takeWebhookEvents({ store, databaseTime }: Context): Methods['takeWebhookEvents'] {
  return async ({ workspaceId, id, takenIds }, call) => {
    const now = databaseTime()?.toISOString() ?? null;
    return store.fork().transactional(async (em) => {
      const [listener] = await query<TakingRow>(
        em,
        `update listeners set expires_at = coalesce($3::timestamptz, now()) + interval '${idleMs} milliseconds'
         where workspace_id = $1 and id = $2 and ended_at is null
         returning event_types, dropped, ${orderedTimeSql('expires_at')} as expires_at`,
        [workspaceId, id, now],
      );
      if (!listener) throw refusal('WEBHOOK_LISTENER_NOT_FOUND', 'Webhook listener not found');
      requireReading(call, listener.event_types);
      await markTaken(em, { workspaceId, id }, { ids: takenIds.filter(isDeliveryId), now });
      const events = await oldestWaiting(em, { workspaceId, id });
      return {
        events: events.map(waitingMessage),
        dropped: listener.dropped,
        expiresAt: fromJson(TimestampSchema, listener.expires_at),
      };
    });
  };
}

async function markTaken(
  em: EntityManager,
  { workspaceId, id }: ListenerKey,
  { ids, now }: { ids: readonly string[]; now: string | null },
): Promise<void> {
  if (ids.length === 0) return;
  const at = 'coalesce($4::timestamptz, now())';
  await query(
    em,
    `update deliveries set status = 'delivered', attempts = 1, claimed_attempt = 1, last_attempt_at = ${at}, delivered_at = ${at}
     where workspace_id = $1 and subscription_id = $2 and id = any($3::uuid[]) and status = 'waiting'`,
    [workspaceId, id, ids, now],
  );
}

/** From one to the next by their index, so that no payload is read that is not given. */
function oldestWaiting(em: EntityManager, { workspaceId, id }: ListenerKey): Promise<WaitingRow[]> {
  const next = (after: string) => `
    select id, event_type, created_at, ${occurredAtSql('deliveries')} as occurred_at, ${payloadSql('deliveries')} as data
    from deliveries
    where workspace_id = $1 and subscription_id = $2 and status = 'waiting' and ${after}
    order by created_at, id limit 1`;
  return query<WaitingRow>(
    em,
    `with recursive given as (
       select first.*, octet_length(data::text) as bytes, 1 as place from (${next('true')}) first
       union all
       select next.*, given.bytes + octet_length(next.data::text), given.place + 1
       from given cross join lateral (${next('(created_at, id) > (given.created_at, given.id)')}) next
       where given.bytes < ${bytesMax} and given.place < ${eventsMax}
     )
     select id, event_type, occurred_at, data from given order by place`,
    [workspaceId, id],
  );
}
