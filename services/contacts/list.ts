import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { defineEntity, p } from '@mikro-orm/core';
import type { CreateListRequest, ListSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Context } from './context.ts';

const schema = defineEntity({
  name: 'List',
  tableName: 'lists',
  properties: {
    workspace_id: p.string().primary(),
    id: p.string().primary(),
    name: p.string(),
    is_double_optin: p.boolean(),
    is_public: p.boolean(),
    description: p.string(),
    double_optin_template: p.json<{ id: string; version: number }>().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    deleted_at: p.datetime().nullable(),
  },
});

/** Something contacts subscribe to. A deleted one keeps its row, so that its id is never used again. */
export class List extends schema.class {}
schema.setClass(List);

/** What callers see of a list, as the ORM or PostgreSQL gives it. */
export type ListRow = Pick<
  List,
  'id' | 'name' | 'is_double_optin' | 'is_public' | 'description' | 'double_optin_template'
> & { created_at: Date | string; updated_at: Date | string };

/** The columns of a ListRow. */
export const listColumns =
  'id, name, is_double_optin, is_public, description, double_optin_template, created_at, updated_at';

export function listMessage(row: ListRow): MessageInitShape<typeof ListSchema> {
  return {
    id: row.id,
    name: row.name,
    isDoubleOptin: row.is_double_optin,
    isPublic: row.is_public,
    description: row.description,
    doubleOptinTemplate: row.double_optin_template ?? undefined,
    createdAt: timestampFromDate(new Date(row.created_at)),
    updatedAt: timestampFromDate(new Date(row.updated_at)),
  };
}

export function listNotFound(): ConnectError {
  return new ConnectError('List not found', Code.NotFound);
}

/** The template of the confirmation mail, as stored. Refuses one that is not there, or is no mail. */
export async function optInTemplateOf(
  { templates }: Pick<Context, 'templates'>,
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
    throw invalidReference('no email template has this id');
  }
  return { id, version };
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
