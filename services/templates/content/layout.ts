import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import {
  type EmailContent,
  EmailContentSchema,
  TemplateChannel,
  TranslationSchema,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Compiler } from '../compile/compiler.ts';
import { ContentError } from '../compile/content-error.ts';
import { refuse, sourceOf } from '../compile/email-content.ts';
import type { Source } from '../compile/source.ts';
import { Template, type TemplateSource } from '../template.ts';
import type { TemplateInput } from './input.ts';
import { translatedEmail } from './translated.ts';

/** The layout of a template, as it is now. */
export type Layout = {
  version: number;
  /** Its source for readers of a language; its own where it is not translated. */
  sourceIn(language: string): Source;
};

type Context = { em: EntityManager; compiler: Compiler };

type Wrapped = Pick<TemplateInput, 'workspaceId' | 'id' | 'channel' | 'templateMacroId'>;

/**
 * The layout that a template names, if any, with its translations into some languages. Refuses one
 * that cannot wrap it.
 */
export async function findLayout(
  { em, compiler }: Context,
  input: Wrapped,
  languages: readonly string[],
): Promise<Layout | undefined> {
  const { templateMacroId: id } = input;
  if (id === '') return undefined;
  if (input.channel !== TemplateChannel.EMAIL) throw fault('only email templates have a layout');
  if (id === input.id) throw fault('a template cannot be its own layout');
  const layout = await liveLayout(em, input);
  const { email } = layout;
  if (!email) throw fault(`layout '${id}' is not an email template`);
  if (layout.template_macro_id !== '') throw fault(`layout '${id}' has a layout itself`);
  const main = fromJson(EmailContentSchema, email);
  const variants = new Map(
    languages.flatMap((language) => {
      const translated = translationOf(layout, { language, own: main });
      return translated ? [[language, translated] as const] : [];
    }),
  );
  const own = sourceOf(main);
  for (const source of [own, ...variants.values()]) await check(compiler, id, source);
  return {
    version: layout.version,
    sourceIn: (language) => variants.get(language) ?? own,
  };
}

/** Refuses a layout that was deleted since it was compiled in. */
export async function checkLayoutIsLive(em: EntityManager, input: TemplateInput): Promise<void> {
  if (input.templateMacroId !== '') await liveLayout(em, input);
}

async function liveLayout(
  em: EntityManager,
  { workspaceId, templateMacroId: id }: Wrapped,
): Promise<TemplateSource> {
  return em.findOneOrFail(
    Template,
    { workspace_id: workspaceId, id, is_newest: true },
    {
      exclude: ['compiled', 'compiled_translations'],
      failHandler: () => fault(`layout '${id}' not found`),
    },
  );
}

function translationOf(
  { translations }: TemplateSource,
  { language, own }: { language: string; own: EmailContent },
): Source | undefined {
  if (!Object.hasOwn(translations, language)) return undefined;
  const { email } = fromJson(TranslationSchema, translations[language] as JsonValue);
  return email && sourceOf(translatedEmail(email, own));
}

async function check(compiler: Compiler, id: string, source: Source): Promise<void> {
  try {
    await compiler.checkLayout(source);
  } catch (error) {
    if (error instanceof ContentError) throw fault(`layout '${id}' ${error.message}`);
    await refuse(Promise.reject(error), 'template_macro_id', 'template_macro_id');
  }
}

function fault(text: string) {
  return invalidField('template_macro_id', text);
}
