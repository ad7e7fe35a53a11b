import type { JsonObject } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import { KillableThread, ThreadBusyError } from '#lib/killable-thread.ts';
import type { SourcePlace } from '#lib/liquid/engine.ts';
import { ContentError, type Issue } from './content-error.ts';
import type { Head } from './head.ts';
import type { MailPreview, PreviewRequest } from './preview.ts';
import type { Source } from './source.ts';
import type { CompileAnswer, CompileWork } from './worker.ts';

const sourceMaxBytes = 500 * 1024;
const errorLengthMax = 1_000;

export type CheckedBody = {
  /** The MJML of the source. */
  mjml: string;
  /** With its head: what mails are made from. */
  whole: string;
  /** MJML's complaints about parts that it leaves out. */
  warnings: readonly Issue[];
};

/**
 * Compiles in a thread that is killed after a timeout, since an author's template could run for
 * ever.
 */
export type Compiler = {
  /**
   * The MJML of a source, checked by compiling it. `data` fills in Liquid that makes blocks.
   */
  compile(source: Source, head: Head, data: JsonObject): Promise<CheckedBody>;
  /** Compiles for a preview: with Liquid rendered from `data`, or kept if there is none. */
  preview(source: Source, request: PreviewRequest): Promise<MailPreview>;
  /**
   * Throws unless a source can wrap others; its errors continue the name of the layout: `does not
   * hold …`.
   */
  checkLayout(source: Source): Promise<void>;
  /** Throws if the text is no Liquid. */
  parse(place: SourcePlace, source: string): Promise<void>;
  render(place: SourcePlace, source: string, data: JsonObject): Promise<string>;
  /**
   * The same for one caller: workspaces take turns, and work that waits is dropped when its caller
   * leaves.
   */
  for(workspaceId: string, signal?: AbortSignal): Compiler;
  close(): Promise<void>;
};

type Thread = KillableThread<CompileWork, CompileAnswer>;
type Caller = { tenant: string; signal?: AbortSignal | undefined };

const blank: Source = { kind: 'mjml', text: '<mjml><mj-body></mj-body></mjml>' };
const blankHead: Head = { title: '', preview: '', language: '' };

export function createCompiler(): Compiler {
  const thread: Thread = new KillableThread(new URL('./worker.ts', import.meta.url), {
    timeMs: 1_500,
    startMs: 8_000,
    memoryMb: 256,
    waitingMax: 100,
    tenantWaitingMax: 50,
    warmUps: {
      compile: {
        liquid: { do: 'parse', place: 'text', source: '' },
        compile: { do: 'compile', source: blank, head: blankHead, data: {} },
      },
    },
  });
  return compilerOf(thread, { tenant: '' });
}

function compilerOf(thread: Thread, caller: Caller): Compiler {
  const run = (work: CompileWork) => answered(thread, caller, work);
  return {
    async compile(source, head, data) {
      const answer = await run({ do: 'compile', source, head, data });
      if ('whole' in answer) return answer;
      throw new Error('the thread answered something else');
    },
    async preview(source, request) {
      const answer = await run({ do: 'preview', source, request });
      if ('preview' in answer) return answer.preview;
      throw new Error('the thread answered something else');
    },
    async checkLayout(source) {
      await run({ do: 'layout', source });
    },
    async parse(place, source) {
      await run({ do: 'parse', place, source });
    },
    async render(place, source, data) {
      const answer = await run({ do: 'render', place, source, data });
      return 'text' in answer ? answer.text : '';
    },
    for: (tenant, signal) => compilerOf(thread, { tenant, signal }),
    close: () => thread.close(),
  };
}

async function answered(
  thread: Thread,
  caller: Caller,
  work: CompileWork,
): Promise<Exclude<CompileAnswer, { error: string }>> {
  checkSize(typeof work.source === 'string' ? work.source : work.source.text);
  if (work.do === 'preview') checkSize(work.request.text);
  const answer = await ask(thread, caller, work);
  if (!answer) throw new ContentError('it takes too long or too much memory');
  if ('error' in answer) {
    throw new ContentError(answer.error.slice(0, errorLengthMax), answer.issues);
  }
  return answer;
}

async function ask(
  thread: Thread,
  caller: Caller,
  work: CompileWork,
): Promise<CompileAnswer | undefined> {
  try {
    // Previews load the same modules as compiling, and the others need no more than the thread
    // itself.
    const kind = work.do === 'preview' || work.do === 'compile' ? 'compile' : 'liquid';
    return await thread.ask(() => work, { ...caller, kind });
  } catch (error) {
    if (!(error instanceof ThreadBusyError)) throw error;
    throw retryLater('too many templates are being compiled', Code.ResourceExhausted, 1_000);
  }
}

function checkSize(source: string): void {
  if (Buffer.byteLength(source) > sourceMaxBytes) {
    throw new ContentError('it is larger than 500 KiB');
  }
}
