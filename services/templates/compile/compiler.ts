import { Code } from '@connectrpc/connect';
import { KillableThread, ThreadBusyError } from '#lib/killable-thread.ts';
import type { Place } from '#lib/liquid/engine.ts';
import { retryLater } from '#lib/rpc/errors.ts';
import { ContentError } from './content-error.ts';
import { protectLiquid } from './protect.ts';
import type { Answer, Work } from './worker.ts';

const sourceMaxBytes = 500 * 1024;

export type CompiledBody = {
  /** HTML with Liquid kept; empty where Liquid makes blocks. */
  html: string;
  /** Set where Liquid makes blocks. */
  mjml: string;
};

/** Does in a thread what an author's template could make last for ever. */
export type Compiler = {
  /** MJML with Liquid to HTML with the same Liquid. `data` fills in Liquid that makes blocks. */
  compile(mjml: string, data: Record<string, unknown>): Promise<CompiledBody>;
  /** MJML without Liquid to HTML. */
  toHtml(mjml: string): Promise<string>;
  /** Throws if the text is no Liquid. */
  parse(place: Place, source: string): Promise<void>;
  render(place: Place, source: string, data: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
};

export function createCompiler(): Compiler {
  const thread = new KillableThread<Work, Answer>(new URL('./worker.ts', import.meta.url), {
    timeMs: 1_500,
    startMs: 8_000,
    memoryMb: 256,
    waitingMax: 100,
  });
  const run = async (work: Work): Promise<string> => {
    checkSize('mjml' in work ? work.mjml : work.source);
    const answer = await ask(thread, work);
    if (!answer) throw new ContentError('it takes too long or too much memory');
    if ('error' in answer) throw new ContentError(answer.error.slice(0, 500));
    return answer.text;
  };
  const render: Compiler['render'] = (place, source, data) =>
    run({ do: 'render', place, source, data });
  const toHtml = (mjml: string) => run({ do: 'mjml', mjml });
  return {
    toHtml,
    render,
    async parse(place, source) {
      await run({ do: 'parse', place, source });
    },
    async compile(mjml, data) {
      checkSize(mjml);
      const { mjml: hidden, makesBlocks, restore } = protectLiquid(mjml);
      if (makesBlocks) {
        await toHtml(await render('html', mjml, data));
        return { html: '', mjml };
      }
      return { html: restore(await toHtml(hidden)), mjml: '' };
    },
    close: () => thread.close(),
  };
}

async function ask(thread: KillableThread<Work, Answer>, work: Work): Promise<Answer | undefined> {
  try {
    // Each kind loads modules of its own.
    return await thread.ask(() => work, work.do);
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
