import { Code, ConnectError } from '@connectrpc/connect';
import {
  beginTemplateUses,
  type TemplateUseClient,
  type TemplateUser,
  type TemplateUses,
} from '#lib/jobs/template-uses.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { type Channel, Notification, type NotificationKey } from '../notification.ts';
import { refusedTemplate } from './templates.ts';

export function notificationUser({ workspaceId, id }: NotificationKey): TemplateUser {
  return { kind: 'notification', workspaceId, id };
}

/**
 * The templates that a notification uses, as it is in the database; undefined for one that is
 * deleted.
 */
export async function notificationUses(
  em: EntityManager,
  { workspaceId, id }: NotificationKey,
): Promise<TemplateUses | undefined> {
  const notification = await em.findOne(Notification, { workspace_id: workspaceId, id });
  return notification ? usesOf(notification) : undefined;
}

/**
 * In the transaction of a notification. `at` is the field it came in, `before` are the channels
 * that it had.
 */
export async function beginNotificationUses(
  em: EntityManager,
  context: { store: Store; templateUses: TemplateUseClient },
  notification: Notification,
  { at, before = {} }: { at: string; before?: Readonly<Record<string, Channel>> },
): Promise<void> {
  const { workspace_id: workspaceId, id } = notification;
  try {
    await beginTemplateUses(em, context, notificationUser({ workspaceId, id }), {
      ...usesOf(notification),
      before: templateIdsOf(before),
    });
  } catch (error) {
    // Deleted since it was checked.
    if (ConnectError.from(error).code === Code.NotFound) {
      throw refusedTemplate(at, 'email', 'template not found');
    }
    throw error;
  }
}

function usesOf({ name, channels }: Notification): TemplateUses {
  return { name, templateIds: templateIdsOf(channels) };
}

function templateIdsOf(channels: Readonly<Record<string, Channel>>): string[] {
  return Object.values(channels).map((channel) => channel.template_id);
}
