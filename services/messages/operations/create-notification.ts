import { TransactionalService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { expectTemplateUses } from '#lib/jobs/template-uses.ts';
import { storedTags } from '#lib/mail/tags.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { quotaExceeded } from '#lib/quotas/quotas.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { Notification } from '../notification.ts';
import {
  checkedChannels,
  checkedDescription,
  checkedId,
  checkedMetadata,
  checkedName,
  storedTracking,
  storedTtl,
} from '../notifications/content.ts';
import { checkIntegration } from '../notifications/integration.ts';
import { beginNotificationUses, notificationUser } from '../notifications/template-uses.ts';
import { checkTemplates } from '../notifications/templates.ts';
import { toNotification } from '../views/notification.ts';

const at = 'notification';
type NotificationInput = NonNullable<Parameters<Methods['createNotification']>[0]['notification']>;

export function createNotification(context: Context): Methods['createNotification'] {
  const { store, templates, plans, quotas, now } = context;
  const { createNotification: method } = TransactionalService.method;
  return async (request, call) => {
    const { workspaceId, notification: given } = request;
    if (!given) throw invalidField(at, 'notification is required');
    const content = contentOf(given);
    const { id, channels } = content;
    await checkIntegration(plans, at, { workspaceId, integrationId: content.integration_id });
    await checkTemplates(templates, at, workspaceId, channels);
    const quota = await quotas.quotaOf(workspaceId, 'notifications');
    await expectTemplateUses(store, notificationUser({ workspaceId, id }));
    return once(store, call, method, request, async (em) => {
      await makeRoom(em, { workspaceId, id }, quota);
      const time = now();
      const notification = em.create(Notification, {
        ...content,
        workspace_id: workspaceId,
        created_at: time,
        updated_at: time,
      });
      await em.flush();
      await beginNotificationUses(em, context, notification, { at });
      return { notification: toNotification(notification) };
    });
  };
}

function contentOf(given: NotificationInput) {
  return {
    id: checkedId(given.id),
    name: checkedName(at, given.name),
    description: checkedDescription(at, given.description),
    channels: checkedChannels(at, given.channels),
    tracking_settings: storedTracking(given.trackingSettings),
    metadata: given.metadata ? checkedMetadata(at, given.metadata) : null,
    send_to_bounced: given.sendToBounced,
    ttl_seconds: storedTtl(at, given.ttlSeconds),
    integration_id: given.integrationId,
    tags: storedTags(given.tags, `${at}.tags`),
  };
}

/** Under a lock: two concurrent calls would both find room for the last one. */
async function makeRoom(
  em: EntityManager,
  { workspaceId, id }: { workspaceId: string; id: string },
  quota: number,
): Promise<void> {
  await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`notifications ${workspaceId}`]);
  const [row] = await query<{ count: number; is_taken: boolean }>(
    em,
    `select count(*)::int as count, coalesce(bool_or(id = $2), false) as is_taken
     from notifications where workspace_id = $1`,
    [workspaceId, id],
  );
  if (row?.is_taken) throw refusal('ALREADY_EXISTS', 'Notification id already exists');
  const used = row?.count ?? 0;
  if (used >= quota) throw quotaExceeded('notifications', { used, quota });
}
