import { Code, ConnectError } from '@connectrpc/connect';
import {
  type GetTemplateContentResponse,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Channel } from '../notification.ts';
import type { Templates } from '../peers.ts';

/** Refuses templates that don't exist, or are deleted, or are not for the channel. */
export async function checkTemplates(
  templates: Templates,
  at: string,
  workspaceId: string,
  channels: Readonly<Record<string, Channel>>,
): Promise<void> {
  for (const [name, { template_id: id }] of Object.entries(channels)) {
    const found = await newestOf(templates, workspaceId, id);
    if (!found) throw refusedTemplate(at, name, 'template not found');
    if (found.channel !== TemplateChannel.EMAIL) {
      throw refusedTemplate(at, name, 'the template is not for email');
    }
  }
}

export function refusedTemplate(at: string, channel: string, why: string): ConnectError {
  const field = `${at}.channels.${channel}.template_id`;
  return invalidField(field, `invalid template for channel ${channel}: ${why}`);
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
