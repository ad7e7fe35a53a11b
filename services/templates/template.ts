import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { defineEntity, p } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';

/** A mail's content after MJML, as messages sends it. */
export type CompiledMail = {
  subject: string;
  html: string;
  mjml: string;
  text: string;
  sender_id: string;
  reply_to: string;
};

const schema = defineEntity({
  name: 'Template',
  tableName: 'templates',
  properties: {
    workspace_id: p.string().primary(),
    id: p.string().primary(),
    version: p.integer().primary(),
    name: p.string(),
    channel: p.enum(['email', 'web'] as const),
    category: p.string(),
    /** As in the API's JSON. */
    email: p.json<JsonValue>().nullable(),
    web: p.json<JsonValue>().nullable(),
    template_macro_id: p.string(),
    /** The layout that is compiled in; 0 without one. */
    template_macro_version: p.integer(),
    integration_id: p.string(),
    test_data: p.json<JsonObject>().nullable(),
    settings: p.json<JsonObject>().nullable(),
    translations: p.json<Record<string, JsonValue>>(),
    compiled: p.json<CompiledMail>().nullable(),
    /** Translations of a mail, by language. */
    compiled_translations: p.json<Record<string, CompiledMail>>(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
    deleted_at: p.datetime().nullable(),
    /** True of one version of each template that is not deleted. */
    is_newest: p.boolean(),
  },
});

/** One version of a template. The content of a version never changes. */
export class Template extends schema.class {}
schema.setClass(Template);

/** A version without what it was compiled to, which is as large again. */
export type TemplateSource = Pick<
  Template,
  Exclude<keyof Template & string, 'compiled' | 'compiled_translations'>
>;

export function templateNotFound(): ConnectError {
  return refusal('TEMPLATE_NOT_FOUND', 'Template not found');
}
