import { type JsonObject, toJson } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  type CreateTemplateRequest,
  EmailContentSchema,
  TemplateChannel,
  TemplateService,
  type Translation,
  TranslationSchema,
  WebContentSchema,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { compileEmail } from '../compile/email-content.ts';
import type { Context, Methods } from '../context.ts';
import { type Compiled, Template } from '../template.ts';
import { categoryWord, toTemplate } from '../views/template.ts';

const templatesMax = 1_000;

export function createTemplate(context: Context): Methods['createTemplate'] {
  const { store, now } = context;
  return async (request, call) => {
    const compiler = context.compiler.for(request.workspaceId, call.signal);
    const content = await storedContent({ ...context, compiler }, request);
    const at = now();
    return once(store, call, TemplateService.method.createTemplate, request, async (em) => {
      // Two concurrent calls would both find room for the last template.
      await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [
        `templates ${request.workspaceId}`,
      ]);
      const [row] = await query<{ count: string; taken: boolean }>(
        em,
        `select count(distinct id) as count, coalesce(bool_or(id = $2), false) as taken
         from templates where workspace_id = $1`,
        [request.workspaceId, request.id],
      );
      if (row?.taken) throw new ConnectError('Template id already exists', Code.AlreadyExists);
      if (Number(row?.count) >= templatesMax) {
        throw new ConnectError(
          `a workspace has at most ${templatesMax} templates`,
          Code.FailedPrecondition,
        );
      }
      const template = em.create(Template, {
        ...content,
        workspace_id: request.workspaceId,
        id: request.id,
        version: 1,
        integration_id: '',
        created_at: at,
        updated_at: at,
      });
      await em.flush();
      return { template: toTemplate(template) };
    });
  };
}

async function storedContent(context: Context, request: CreateTemplateRequest) {
  const isEmail = request.channel === TemplateChannel.EMAIL;
  checkChannel(request, isEmail);
  const { settings } = await context.workspaces.getSettings({ workspaceId: request.workspaceId });
  checkLanguages(request, settings?.languages ?? []);
  const { email, web, name, testData } = request;
  const language = settings?.defaultLanguage ?? '';
  const options = { compiler: context.compiler, field: 'email', language, testData };
  const compiled = email ? await compileEmail(email, options) : undefined;
  return {
    name,
    channel: isEmail ? ('email' as const) : ('web' as const),
    category: categoryWord(request.category) ?? 'other',
    email: compiled
      ? toJson(EmailContentSchema, compiled.content, { useProtoFieldName: true })
      : null,
    web: web ? toJson(WebContentSchema, web, { useProtoFieldName: true }) : null,
    template_macro_id: request.templateMacroId,
    test_data: testData ?? null,
    settings: request.settings ?? null,
    ...(await storedTranslations(request, isEmail, options)),
    compiled: compiled?.compiled ?? null,
  };
}

function checkChannel({ email, web }: CreateTemplateRequest, isEmail: boolean): void {
  if (isEmail) {
    if (!email) throw invalidField('email', "email is required for channel 'email'");
    if (web) throw invalidField('web', "web must be nil for channel 'email'");
    return;
  }
  if (!web) throw invalidField('web', "web is required for channel 'web'");
  if (email) throw invalidField('email', "email must be nil for channel 'web'");
  if (!web.content) throw invalidField('web.content', 'content is required');
}

function checkLanguages(
  { translations }: CreateTemplateRequest,
  languages: readonly string[],
): void {
  const foreign = Object.keys(translations).find((language) => !languages.includes(language));
  if (foreign !== undefined) {
    throw invalidField(
      'translations',
      `translation language '${foreign.slice(0, 20)}' is not in workspace's configured languages`,
    );
  }
}

type Options = Parameters<typeof compileEmail>[1];

async function storedTranslations(
  { translations: given }: CreateTemplateRequest,
  isEmail: boolean,
  options: Options,
) {
  const translations: Record<string, JsonObject> = {};
  const compiled_translations: Record<string, Compiled> = {};
  for (const [language, translation] of Object.entries(given)) {
    const field = `translations.${language}.email`;
    const { json, compiled } = await storedTranslation(translation, isEmail, {
      ...options,
      field,
      language,
    });
    translations[language] = json;
    if (compiled) compiled_translations[language] = compiled;
  }
  return { translations, compiled_translations };
}

async function storedTranslation(
  { email, web }: Translation,
  isEmail: boolean,
  options: Options,
): Promise<{ json: JsonObject; compiled: Compiled | undefined }> {
  if (!email && !web)
    throw invalidField(options.field, 'a translation must have either email or web content');
  if (isEmail !== (email !== undefined)) {
    const [wrong, channel] = isEmail ? ['web', 'email'] : ['email', 'web'];
    throw invalidField(options.field, `${wrong} content not allowed for ${channel} channel`);
  }
  const { content, compiled } = email ? await compileEmail(email, options) : {};
  const message = { $typeName: TranslationSchema.typeName, email: content, web };
  const json = toJson(TranslationSchema, message, { useProtoFieldName: true }) as JsonObject;
  return { json, compiled };
}
