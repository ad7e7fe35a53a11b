import { watch, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Http } from '../typescript/src/http.ts';
import { Templates } from '../typescript/src/made/templates.ts';
import type {
  CompileIssue,
  CompileTemplateRequest,
  CompileTemplateResponse,
} from '../typescript/src/made/types.ts';
import { textOf, UsageError } from './failures.ts';
import { untilInterrupted } from './interrupt.ts';
import { type CommonOptions, callerOf, type Invocation } from './invocation.ts';
import { jsonOf } from './request.ts';
import { contentOf, type Json, type LocalContent, readTemplate } from './templates.ts';
import { say, write } from './terminal.ts';

type PreviewOptions = CommonOptions & { language?: string; contact?: string; to?: string };

/** Editors write a file in several steps. */
const quietMs = 200;
/** The API wants one, for links. */
const messageId = 'preview';

/** Renders a template as its folder has it; false if it has mistakes. */
export async function previewTemplate(
  invocation: Invocation,
  folder: string,
  options: PreviewOptions,
): Promise<boolean> {
  return render(invocation, callerOf(invocation, options).http, { folder, options });
}

/** The same at each change of the folder, until it is interrupted; mistakes do not end it. */
export async function watchTemplate(
  invocation: Invocation,
  folder: string,
  options: PreviewOptions,
): Promise<void> {
  const { to } = options;
  if (to === undefined) throw new UsageError('--to: a file for the HTML is expected');
  const { http } = callerOf(invocation, options);
  const { signal, release } = untilInterrupted();
  const changes = changesOf(folder, signal, resolve(to));
  try {
    while (!signal.aborted) {
      await render(invocation, http, { folder, options }).catch((error) => {
        say(invocation.terminal, textOf(error));
      });
      await changes.next();
    }
  } finally {
    changes.end();
    release();
  }
}

/** Any number of changes are one, and those of the file that is written none. */
function changesOf(folder: string, signal: AbortSignal, written: string) {
  let isChanged = false;
  let wake = () => {};
  const note = (_: string, file: string | null) => {
    if (file !== null && resolve(folder, file) === written) return;
    isChanged = true;
    wake();
  };
  const watcher = watchFolder(folder, note);
  watcher.on('error', () => note('', null));
  signal.addEventListener('abort', () => wake(), { once: true });
  return {
    async next() {
      if (!isChanged && !signal.aborted) {
        await new Promise<void>((done) => {
          wake = done;
        });
      }
      await sleep(quietMs, undefined, { signal }).catch(() => {});
      isChanged = false;
    },
    end: () => watcher.close(),
  };
}

function watchFolder(folder: string, note: (event: string, file: string | null) => void) {
  try {
    return watch(folder, note);
  } catch (error) {
    throw new UsageError(`${folder} cannot be watched: ${error}`);
  }
}

async function render(
  { terminal }: Invocation,
  http: Http,
  { folder, options }: { folder: string; options: PreviewOptions },
): Promise<boolean> {
  const template = readTemplate(folder, basename(resolve(folder)));
  const content = contentOf(template, options.language);
  const request = requestOf(template, content, options);
  const answer = await new Templates(http).compile(request);
  const file = join(folder, content.file);
  for (const line of faultsOf(answer, file)) say(terminal, line);
  const { html, success, size_bytes: bytes, subject = '' } = answer;
  if (!success || html === undefined) return false;
  if (options.to === undefined) await write(terminal, `${html}\n`);
  else {
    writeFileSync(options.to, html);
    say(terminal, `${options.to} written: ${bytes} bytes, subject: ${subject}`);
  }
  return true;
}

function requestOf(
  template: Json,
  { email }: LocalContent,
  { language, contact }: PreviewOptions,
): Omit<CompileTemplateRequest, 'workspace_id'> {
  const request: Record<string, unknown> = {
    message_id: messageId,
    ...pick(email, ['mjml_source', 'visual_editor_tree', 'subject', 'subject_preview', 'text']),
    ...pick(template, ['channel', 'category', 'test_data', 'template_macro_id']),
    ...(language === undefined ? {} : { language }),
    ...(contact === undefined ? {} : { contact: jsonOf('--contact', contact) }),
  };
  // The API says what is wrong with a field.
  return request as CompileTemplateRequest;
}

const pick = (from: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (name in from ? [[name, from[name]]] : [])));

/** Mistakes and warnings, as compilers print them: file, line, what. */
export function faultsOf({ error, warnings }: CompileTemplateResponse, file: string): string[] {
  const place = ({ line, tag }: CompileIssue) =>
    `${file}${line > 0 ? `:${line}` : ''}:${tag ? ` ${tag}:` : ''}`;
  const issues = error?.issues ?? [];
  return [
    ...issues.map((issue) => `${place(issue)} ${issue.message}`),
    ...(error && issues.length === 0 ? [`${file}: ${error.message}`] : []),
    ...warnings.map((issue) => `${place(issue)} warning: ${issue.message}`),
  ];
}
