import { WebhookListenerService } from '#gen/postrider/webhooks/v1/listeners_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { changeInterests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import { orderedTimeSql } from '#lib/postgres/time-sql.ts';
import { hasPermission } from '#lib/rpc/server/access.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { checkedTypes } from '../input/content.ts';
import { eventTypes, resourceOf } from '../input/event-types.ts';
import { requireReading } from '../input/rights.ts';
import { interests } from '../interests/interests.ts';
import {
  allMax,
  countListeners,
  idleMs,
  type ListenerRow,
  liveMax,
} from '../listening/listener.ts';
import { listenerMessage } from '../views/listener.ts';

export function createWebhookListener(context: Context): Methods['createWebhookListener'] {
  const { store, producers, databaseTime } = context;
  const method = WebhookListenerService.method.createWebhookListener;
  return async (request, call) => {
    const { workspaceId } = request;
    const readable = eventTypes.filter((type) => hasPermission(call, resourceOf(type), 'read'));
    const types = checkedTypes(request.eventTypes.length > 0 ? request.eventTypes : readable);
    requireReading(call, types);
    return once(store, call, method, request, (em) =>
      changeInterests(interests, producers, { em, workspaceId }, async () => {
        const { live, all } = await countListeners(em, workspaceId);
        if (live >= liveMax) {
          throw refusal('TOO_MANY', `The workspace has ${liveMax} listeners of webhooks`);
        }
        if (all >= allMax) {
          throw refusal('TOO_MANY', `${allMax} listeners of webhooks were made within an hour`);
        }
        const at = 'coalesce($4::timestamptz, now())';
        const [listener] = await query<ListenerRow>(
          em,
          `insert into listeners (workspace_id, id, event_types, created_at, expires_at)
           values ($1, $2, $3, ${at}, ${at} + interval '${idleMs} milliseconds')
           returning id, event_types, ${orderedTimeSql('created_at')} as created_at, ${orderedTimeSql('expires_at')} as expires_at`,
          [workspaceId, crypto.randomUUID().replaceAll('-', ''), types, isoOf(databaseTime())],
        );
        return { listener: listener && listenerMessage(listener) };
      }),
    );
  };
}

const isoOf = (time: Date | undefined) => time?.toISOString() ?? null;
