import { create, fromJson, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  EmailContentSchema,
  TemplateChannel,
  TemplateSchema,
  TranslationSchema,
  WebContentSchema,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { categoryOf } from '../content/category.ts';
import type { TemplateInput } from '../content/input.ts';
import type { TemplateSource } from '../template.ts';

export const channelWords = { email: TemplateChannel.EMAIL, web: TemplateChannel.WEB };

/** A version as a caller would give it. */
export function toInput(template: TemplateSource): TemplateInput {
  const {
    id,
    name,
    channel,
    category,
    email,
    web,
    templateMacroId,
    testData,
    settings,
    translations,
  } = create(TemplateSchema, toTemplate(template));
  const { workspace_id: workspaceId } = template;
  return {
    workspaceId,
    id,
    name,
    channel,
    category,
    email,
    web,
    templateMacroId,
    testData,
    settings,
    translations,
  };
}

/** A version as the API shows it. */
export function toTemplate(template: TemplateSource): MessageInitShape<typeof TemplateSchema> {
  const { email, web, translations } = template;
  return {
    id: template.id,
    name: template.name,
    version: template.version,
    channel: channelWords[template.channel],
    category: categoryOf(template.category),
    email: email ? fromJson(EmailContentSchema, email) : undefined,
    web: web ? fromJson(WebContentSchema, web) : undefined,
    templateMacroId: template.template_macro_id,
    templateMacroVersion: template.template_macro_version,
    integrationId: template.integration_id,
    testData: template.test_data ?? undefined,
    settings: template.settings ?? undefined,
    translations: Object.fromEntries(
      Object.entries(translations).map(([language, content]) => [
        language,
        fromJson(TranslationSchema, content),
      ]),
    ),
    createdAt: timestampFromDate(template.created_at),
    updatedAt: timestampFromDate(template.updated_at),
    deletedAt: template.deleted_at ? timestampFromDate(template.deleted_at) : undefined,
  };
}
