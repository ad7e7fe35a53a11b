import type { Client, ConnectError } from '@connectrpc/connect';
import type { CreateListRequest } from '#gen/postrider/contacts/v1/lists_pb.ts';
import {
  TemplateChannel,
  type TemplateContentService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';

export type OptInTemplates = Pick<Client<typeof TemplateContentService>, 'batchGetTemplates'>;

/**
 * The template of the confirmation mail, as stored. Refuses one that does not exist or is not for
 * mail.
 */
export async function optInTemplateOf(
  { templates }: { templates: OptInTemplates },
  {
    workspaceId,
    isDoubleOptin,
    doubleOptinTemplate,
  }: Pick<CreateListRequest, 'workspaceId' | 'isDoubleOptin' | 'doubleOptinTemplate'>,
) {
  if (!doubleOptinTemplate) {
    if (!isDoubleOptin) return null;
    throw invalidField(
      'double_optin_template',
      'double opt-in template is required when is_double_optin is true',
    );
  }
  const { id, version } = doubleOptinTemplate;
  const fault = templateFault(id);
  if (fault) throw invalidReference(fault);
  const { found } = await templates.batchGetTemplates({ workspaceId, keys: [{ id }] });
  if (found[0]?.template?.channel !== TemplateChannel.EMAIL) {
    throw noSuchTemplate();
  }
  return { id, version };
}

export function noSuchTemplate(): ConnectError {
  return invalidReference('no email template has this id');
}

function invalidReference(fault: string): ConnectError {
  return invalidField(
    'double_optin_template.id',
    `double opt-in template: invalid template reference: ${fault}`,
  );
}

function templateFault(id: string): string | undefined {
  if (id.length > 32) return 'id length must be between 1 and 32';
  if (!/^[a-zA-Z0-9_-]+$/.test(id)) {
    return 'id must contain only letters, numbers, underscores, and hyphens';
  }
  return undefined;
}
