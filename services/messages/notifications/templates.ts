import { Code, ConnectError } from '@connectrpc/connect';
import {
  type GetTemplateContentResponse,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import {
  beginTemplateUses,
  type TemplateUseClient,
  type TemplateUser,
  type TemplateUses,
} from '#lib/jobs/template-uses.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import { type Channel, Notification, type NotificationKey } from '../notification.ts';
import type { Templates } from '../peers.ts';

/** Refuses templates that don't exist, or are deleted, or are not for the channel. */
export async function checkTemplates(
  templates: Templates,
  at: string,
  workspaceId: string,
  channels: Readonly<Record<string, Channel>>,
): Promise<void> {
  for (const [name, { template_id: id }] of Object.entries(channels)) {
    const field = `${at}.channels.${name}.template_id`;
    const refuse = (why: string) =>
      invalidField(field, `invalid template for channel ${name}: ${why}`);
    const found = await newestOf(templates, workspaceId, id);
    if (!found) throw refuse('template not found');
    if (found.channel !== TemplateChannel.EMAIL) throw refuse('the template is not for email');
  }
}

async function newestOf(
  templates: Templates,
  workspaceId: string,
  id: string,
): Promise<GetTemplateContentResponse | undefined> {
  try {
    return await templates.getTemplateContent({ workspaceId, id, version: 0 });
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}

export function notificationUser({ workspaceId, id }: NotificationKey): TemplateUser {
  return { kind: 'notification', workspaceId, id };
}

/** The templates that a notification uses, as it is in the database; undefined for one that is deleted. */
export async function notificationUses(
  em: EntityManager,
  { workspaceId, id }: NotificationKey,
): Promise<TemplateUses | undefined> {
  const notification = await em.findOne(Notification, { workspace_id: workspaceId, id });
  return notification ? usesOf(notification) : undefined;
}

/** In the transaction of a notification. `before`: the templates that it had. */
export async function beginNotificationUse(
  em: EntityManager,
  context: { store: Store; templateUses: TemplateUseClient },
  notification: Notification,
  before: readonly string[] = [],
): Promise<void> {
  const user = notificationUser({ workspaceId: notification.workspace_id, id: notification.id });
  try {
    await beginTemplateUses(em, context, user, { ...usesOf(notification), before });
  } catch (error) {
    // Deleted since it was checked.
    if (ConnectError.from(error).code !== Code.NotFound) throw error;
    throw invalidField('channels', 'invalid template for channel email: template not found');
  }
}

export function usesOf({ name, channels }: Notification): TemplateUses {
  return { name, templateIds: Object.values(channels).map(({ template_id }) => template_id) };
}
