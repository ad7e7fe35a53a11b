import type { NotificationUpdates } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { endTemplateUses, expectTemplateUses, releaseTemplates } from '#lib/jobs/template-uses.ts';
import { storedTags } from '#lib/mail/tags.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { findNotification, lockNotification, type Notification } from '../notification.ts';
import {
  checkedChannels,
  checkedDescription,
  checkedMetadata,
  checkedName,
  storedTracking,
  storedTtl,
} from '../notifications/content.ts';
import { checkIntegration } from '../notifications/integration.ts';
import {
  beginNotificationUses,
  notificationUser,
  notificationUses,
} from '../notifications/template-uses.ts';
import { checkTemplates } from '../notifications/templates.ts';
import { toNotification } from '../views/notification.ts';

const at = 'updates';

export function updateNotification(context: Context): Methods['updateNotification'] {
  const { store, templates, plans, transactional, now } = context;
  return async (request, call) => {
    const changes = changesOf(request.updates);
    const { integration_id: integrationId = '' } = changes;
    await checkIntegration(plans, at, { workspaceId: request.workspaceId, integrationId });
    if (changes.channels) {
      // A caller who names no notification learns that first.
      await findNotification(store.fork(), request);
      await checkTemplates(templates, at, request.workspaceId, changes.channels);
      await expectTemplateUses(store, notificationUser(request));
    }
    const changed = await auditedTransaction(store, call, async (em) => {
      const notification = await lockNotification(em, request);
      const { channels: before } = notification;
      Object.assign(notification, changes, { updated_at: now() });
      await em.flush();
      if (changes.channels) {
        await beginNotificationUses(em, context, notification, { at, before });
      } else if (changes.name) await endTemplateUses(em, store.name, notificationUser(request));
      return notification;
    });
    if (changes.channels) {
      await releaseTemplates({ ...context, usesOf: notificationUses }, notificationUser(request));
    }
    transactional.notifications.forget(request.workspaceId, request.id);
    return { notification: toNotification(changed) };
  };
}

type Changes = Partial<
  Pick<
    Notification,
    | 'name'
    | 'description'
    | 'channels'
    | 'tracking_settings'
    | 'metadata'
    | 'send_to_bounced'
    | 'ttl_seconds'
    | 'integration_id'
    | 'tags'
  >
>;

function noTags(given: readonly string[]): null {
  if (given.length === 0) return null;
  throw invalidField(`${at}.clear_tags`, 'clear_tags and tags must not be given together');
}

function changesOf(updates: NotificationUpdates | undefined): Changes {
  const changes: Changes = {};
  if (updates) {
    const { name, description, channels, trackingSettings, metadata, sendToBounced, ttlSeconds } =
      updates;
    if (name !== '') changes.name = checkedName(at, name);
    if (description !== undefined) changes.description = checkedDescription(at, description);
    if (Object.keys(channels).length > 0) changes.channels = checkedChannels(at, channels);
    if (trackingSettings) changes.tracking_settings = storedTracking(trackingSettings);
    if (metadata) changes.metadata = checkedMetadata(at, metadata);
    if (sendToBounced !== undefined) changes.send_to_bounced = sendToBounced;
    if (ttlSeconds !== undefined) changes.ttl_seconds = storedTtl(at, ttlSeconds);
    if (updates.integrationId !== undefined) changes.integration_id = updates.integrationId;
    if (updates.tags.length > 0) changes.tags = storedTags(updates.tags, `${at}.tags`);
    if (updates.clearTags) changes.tags = noTags(updates.tags);
  }
  if (Object.keys(changes).length > 0) return changes;
  throw invalidField(at, 'at least one field must be updated');
}
