import { Code, ConnectError } from '@connectrpc/connect';
import {
  type GetTemplateContentResponse,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Channel, NotificationKey } from '../notification.ts';
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

/**
 * Says which templates a notification uses: before a change is stored, so that none of them can be deleted, and without
 * any after the notification is deleted.
 */
export async function declareUses(
  _templates: Templates,
  _notification: NotificationKey & { name: string },
  _channels: Readonly<Record<string, Channel>>,
): Promise<void> {
  // Calls SetTemplateUses of the templates service once that serves it.
}
