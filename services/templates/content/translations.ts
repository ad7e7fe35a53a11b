import { type JsonObject, toJson } from '@bufbuild/protobuf';
import { EmailContentSchema, type Translation } from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Compiler } from '../compile/compiler.ts';
import { compileEmail } from '../compile/email-content.ts';
import type { Compiled } from '../template.ts';
import type { TemplateInput } from './input.ts';
import type { Layout } from './layout.ts';
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
export async function storedTranslations({ translations: given }: TemplateInput, options: Options) {
  checkLanguages(Object.keys(given), options.languages);
  const translations: Record<string, JsonObject> = {};
  const compiled_translations: Record<string, Compiled> = {};
  for (const [language, translation] of Object.entries(given)) {
    const { json, compiled } = await storedTranslation(translation, language, options);
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
  { isEmail, layout, ...options }: Options,
): Promise<{ json: JsonObject; compiled?: Compiled }> {
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
  if (web) return { json: { web: await checkWeb(web, { ...options, field: `${field}.web` }) } };
  const { content, compiled } = await compileEmail(email!, {
    ...options,
    field: `${field}.email`,
    language,
    layout: layout?.sourceIn(language),
  });
  const json = toJson(EmailContentSchema, content, { useProtoFieldName: true });
  return { json: { email: json }, compiled };
}
