import { create, type JsonObject, toJson } from '@bufbuild/protobuf';
import {
  EmailContentSchema,
  type Translation,
  WebContentSchema,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Compiler } from '../compile/compiler.ts';
import { compileEmail } from '../compile/email-content.ts';
import type { CompiledMail } from '../template.ts';
import type { TemplateInput } from './input.ts';
import type { Layout } from './layout.ts';
import { translatedEmail, translatedWeb } from './translated.ts';
import { checkWeb } from './web-content.ts';

type Options = {
  compiler: Compiler;
  testData: JsonObject | undefined;
  isEmail: boolean;
  /** The workspace's. */
  languages: readonly string[];
  layout: Layout | undefined;
};

/** The columns of a template's translations. */
export async function storedTranslations(input: TemplateInput, options: Options) {
  const { translations: given } = input;
  checkLanguages(Object.keys(given), options.languages);
  const translations: Record<string, JsonObject> = {};
  const compiled_translations: Record<string, CompiledMail> = {};
  for (const [language, translation] of Object.entries(given)) {
    const { json, compiled } = await storedTranslation(translation, language, {
      ...options,
      input,
    });
    translations[language] = json;
    if (compiled) compiled_translations[language] = compiled;
  }
  return { translations, compiled_translations };
}

function checkLanguages(given: readonly string[], languages: readonly string[]): void {
  const foreign = given.find((language) => !languages.includes(language));
  if (foreign !== undefined) {
    throw invalidField(
      'translations',
      `translation language '${foreign.slice(0, 20)}' is not in workspace's configured languages`,
    );
  }
}

async function storedTranslation(
  { email, web }: Translation,
  language: string,
  { input, isEmail, layout, ...options }: Options & { input: TemplateInput },
): Promise<{ json: JsonObject; compiled?: CompiledMail }> {
  const field = `translations.${language}`;
  if (!email && !web) {
    throw invalidField(field, 'a translation must have either email or web content');
  }
  if (email && !isEmail) {
    throw invalidField(`${field}.email`, 'email content not allowed for web channel');
  }
  if (web && isEmail) {
    throw invalidField(`${field}.web`, 'web content not allowed for email channel');
  }
  if (web && input.web) {
    await checkWeb(translatedWeb(web, input.web), { ...options, field: `${field}.web` });
    return { json: { web: toJson(WebContentSchema, web, { useProtoFieldName: true }) } };
  }
  if (!email || !input.email) return { json: {} };
  const { content, compiled } = await compileEmail(translatedEmail(email, input.email), {
    ...options,
    field: `${field}.email`,
    language,
    layout: layout?.sourceIn(language),
  });
  // Fields that were left out stay out, so that they follow the main content of a later version,
  // too.
  const { compiledPreview } = content;
  const stored = create(EmailContentSchema, { ...email, compiledPreview });
  const json = toJson(EmailContentSchema, stored, { useProtoFieldName: true });
  return { json: { email: json }, compiled };
}
