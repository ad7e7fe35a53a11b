import { create, fromJson, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  EmailContentSchema,
  TemplateCategory,
  TemplateChannel,
  TemplateSchema,
  TranslationSchema,
  WebContentSchema,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import type { TemplateInput } from '../content/input.ts';
import type { TemplateSource } from '../template.ts';

export const channelWords = { email: TemplateChannel.EMAIL, web: TemplateChannel.WEB };

/** Enum words by value: `marketing` for TemplateCategory.MARKETING. */
export function categoryWord(category: TemplateCategory): string | undefined {
  const name = Object.entries(TemplateCategory).find(([, value]) => value === category)?.[0];
  return category === TemplateCategory.UNSPECIFIED ? undefined : name?.toLowerCase();
}

export function categoryOf(word: string): TemplateCategory {
  const found = Object.entries(TemplateCategory).find(([name]) => name.toLowerCase() === word);
  return found?.[1] ?? TemplateCategory.UNSPECIFIED;
}

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
