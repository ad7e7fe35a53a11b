import { toJson } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { EmailContentSchema, TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Compiler } from '../compile/compiler.ts';
import { compileEmail } from '../compile/email-content.ts';
import { categoryWord } from './category.ts';
import type { TemplateInput } from './input.ts';
import { findLayout } from './layout.ts';
import { storedTranslations } from './translations.ts';
import { checkWeb } from './web-content.ts';

export type StoredContent = Awaited<ReturnType<typeof storedContent>>;

type ContentContext = {
  compiler: Compiler;
  store: Store;
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;
};

/** The columns of a version, checked and compiled. Every mistake is a 400 that names its field. */
export async function storedContent(
  { compiler: all, store, workspaces }: ContentContext,
  input: TemplateInput,
  signal: AbortSignal,
) {
  const { email, web, testData, workspaceId } = input;
  const compiler = all.for(workspaceId, signal);
  const isEmail = input.channel === TemplateChannel.EMAIL;
  checkChannel(input, isEmail);
  const category = categoryWord(input.category);
  if (!category) throw invalidField('category', 'category is none of those known');
  const { settings } = await workspaces.getSettings({ workspaceId });
  const languages = Object.keys(input.translations);
  const layout = await findLayout({ em: store.fork(), compiler }, input, languages);
  const language = settings?.defaultLanguage ?? '';
  const options = { compiler, testData };
  const compiled =
    email &&
    (await compileEmail(email, {
      ...options,
      field: 'email',
      language,
      layout: layout?.sourceIn(language),
    }));
  const translated = await storedTranslations(input, {
    ...options,
    isEmail,
    languages: settings?.languages ?? [],
    layout,
  });
  return {
    name: input.name,
    channel: isEmail ? ('email' as const) : ('web' as const),
    category,
    email: compiled
      ? toJson(EmailContentSchema, compiled.content, { useProtoFieldName: true })
      : null,
    web: web ? await checkWeb(web, { compiler, field: 'web' }) : null,
    template_macro_id: input.templateMacroId,
    template_macro_version: layout?.version ?? 0,
    test_data: testData ?? null,
    settings: input.settings ?? null,
    ...translated,
    compiled: compiled?.compiled ?? null,
  };
}

function checkChannel({ email, web }: TemplateInput, isEmail: boolean): void {
  if (isEmail) {
    if (!email) throw invalidField('email', "email is required for channel 'email'");
    if (web) throw invalidField('web', "web must be nil for channel 'email'");
    return;
  }
  if (!web) throw invalidField('web', "web is required for channel 'web'");
  if (email) throw invalidField('email', "email must be nil for channel 'web'");
}
