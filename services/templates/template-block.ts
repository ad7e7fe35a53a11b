import type { JsonObject } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { defineEntity, p } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';

const schema = defineEntity({
  name: 'TemplateBlock',
  tableName: 'template_blocks',
  properties: {
    workspace_id: p.string().primary(),
    id: p.uuid().primary(),
    name: p.string(),
    block: p.json<JsonObject>(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A part of a visual tree that authors copy into templates. */
export class TemplateBlock extends schema.class {}
schema.setClass(TemplateBlock);

export function blockNotFound(): ConnectError {
  return refusal('TEMPLATE_BLOCK_NOT_FOUND', 'Template block not found');
}
