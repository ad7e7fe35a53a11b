import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { NotFoundError } from '../typescript/src/errors.ts';
import { Templates } from '../typescript/src/made/templates.ts';
import type { CreateTemplateRequest, Template } from '../typescript/src/made/types.ts';
import { UsageError } from './failures.ts';
import { type CommonOptions, callerOf, type Invocation } from './invocation.ts';
import { textIn, unreadable } from './local-file.ts';
import { say } from './terminal.ts';

/*
 * Templates of mails as a folder that git can keep: <id>/template.json, and each text of MJML in a
 * file of its own, body.mjml and body.<language>.mjml.
 */

export type Json = Record<string, unknown>;

const settingsFile = 'template.json';
/** Ids and languages, which become names of files. */
const nameForm = /^[A-Za-z0-9_-]{1,32}$/;
/** Made by the server. */
const ofServer = ['version', 'created_at', 'updated_at', 'deleted_at', 'template_macro_version'];
const ofServerInEmail = 'compiled_preview';

/** Writes all templates of mails into a folder. */
export async function pullTemplates(
  invocation: Invocation,
  folder: string,
  options: CommonOptions,
): Promise<void> {
  const templates = new Templates(callerOf(invocation, options).http);
  for await (const template of templates.listAll({ channel: 'email' })) {
    writeTemplate(join(folder, fileName(template.id)), withoutServer(template));
    say(invocation.terminal, `${template.id} written`);
  }
}

/** Creates and updates templates as a folder has them; those that it has not stay as they are. */
export async function pushTemplates(
  invocation: Invocation,
  folder: string,
  options: CommonOptions & { dryRun?: true },
): Promise<void> {
  const templates = new Templates(callerOf(invocation, options).http);
  const all = idsIn(folder).map((id) => ({ id, wanted: readTemplate(join(folder, id), id) }));
  // A layout is there before the templates that it wraps.
  const sorted = all.toSorted((a, b) => Number(hasLayout(a.wanted)) - Number(hasLayout(b.wanted)));
  for (const { id, wanted } of sorted) {
    const known = await templateOf(templates, id);
    const isSame = isDeepStrictEqual(known, wanted);
    const verb = known ? 'update' : 'create';
    // The API says what is wrong with a file.
    if (!isSame && !options.dryRun) await templates[verb](wanted as CreateTemplateRequest);
    const done = options.dryRun ? `would be ${verb}d` : `${verb}d`;
    say(invocation.terminal, `${id} ${isSame ? 'is the same' : done}`);
  }
}

const hasLayout = ({ template_macro_id: layout }: Json): boolean =>
  layout !== undefined && layout !== '';

/** A template as a folder has it; undefined if there is none. */
async function templateOf(templates: Templates, id: string): Promise<Json | undefined> {
  try {
    return withoutServer((await templates.get({ id })).template);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function withoutServer(template: Template): Json {
  const fields = Object.entries(template).filter(([name]) => !ofServer.includes(name));
  const kept: Json = Object.fromEntries(fields);
  for (const { email } of contentsOf(kept)) delete email[ofServerInEmail];
  return kept;
}

/** A server that answers nonsense must not choose where files go. */
function fileName(name: string): string {
  if (!nameForm.test(name)) throw new Error(`${name} cannot be the name of a file`);
  return name;
}

export type LocalContent = { file: string; email: Json };

/** The contents of a template, its own and those of its languages, each with its file. */
function contentsOf(template: Json): LocalContent[] {
  const own = asJson(template.email);
  const translations = Object.entries(asJson(template.translations) ?? {});
  const others = translations.map(([language, value]) => ({
    file: `body.${fileName(language)}.mjml`,
    email: asJson(asJson(value)?.email),
  }));
  return [{ file: 'body.mjml', email: own }, ...others].flatMap(({ file, email }) =>
    email ? [{ file, email }] : [],
  );
}

/** The content of a language, or the template's own if none is named. */
export function contentOf(template: Json, language: string | undefined): LocalContent {
  const file = language === undefined ? 'body.mjml' : `body.${fileName(language)}.mjml`;
  const content = contentsOf(template).find((each) => each.file === file);
  if (content) return content;
  const what = language === undefined ? 'no mail' : `no language ${language}`;
  throw new UsageError(`the template has ${what}`);
}

function asJson(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null ? (value as Json) : undefined;
}

function writeTemplate(folder: string, template: Json): void {
  const kept = structuredClone(template);
  mkdirSync(folder, { recursive: true });
  // A file is replaced and not written to: it may be a link that the folder came with.
  const removed = (file: string) => {
    rmSync(join(folder, file), { force: true });
    return join(folder, file);
  };
  for (const { file, email } of contentsOf(kept)) {
    // Of an earlier pull, when the template was MJML.
    const path = removed(file);
    if (typeof email.mjml_source !== 'string' || email.mjml_source === '') continue;
    writeFileSync(path, email.mjml_source);
    delete email.mjml_source;
  }
  writeFileSync(removed(settingsFile), `${JSON.stringify(kept, null, 2)}\n`);
}

/** A template as its folder has it. */
export function readTemplate(folder: string, id: string): Json {
  const template = settingsIn(join(folder, settingsFile));
  for (const content of contentsOf(template)) {
    const mjml = textIn(join(folder, content.file));
    if (mjml !== undefined) content.email.mjml_source = mjml;
  }
  return { ...template, id };
}

function settingsIn(file: string): Json {
  const text = textIn(file);
  if (text === undefined) throw unreadable(file, 'there is none');
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch (error) {
    throw unreadable(file, error);
  }
  const template = Array.isArray(settings) ? undefined : asJson(settings);
  if (!template) throw unreadable(file, 'it holds no object of JSON');
  return template;
}

function idsIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((each) => each.isDirectory() && nameForm.test(each.name))
      .map(({ name }) => name);
  } catch (error) {
    throw new UsageError(`${folder} cannot be read: ${error}`);
  }
}
