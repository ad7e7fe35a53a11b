import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { defineEntity, p } from '@mikro-orm/core';
import type { ListSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';

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
export class List extends schema.class {
  toMessage(): MessageInitShape<typeof ListSchema> {
    return {
      id: this.id,
      name: this.name,
      isDoubleOptin: this.is_double_optin,
      isPublic: this.is_public,
      description: this.description,
      doubleOptinTemplate: this.double_optin_template ?? undefined,
      createdAt: timestampFromDate(this.created_at),
      updatedAt: timestampFromDate(this.updated_at),
    };
  }
}
schema.setClass(List);

export function listNotFound(): ConnectError {
  return new ConnectError('List not found', Code.NotFound);
}
