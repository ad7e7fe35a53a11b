import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { rememberLong } from '#lib/cache.ts';
import { newContext, type Place, renderNodes, type Scope } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { checkPart } from './budget.ts';
import type { RenderedParts } from './compose.ts';
import { layLinks } from './links.ts';
import type { SlowSource } from './program.ts';
import { htmlToText } from './text.ts';

/** A thread that renders programs which may run long. The main thread kills it after a timeout. */

export interface RenderRequest {
  source: SlowSource;
  scope: Scope;
}

export type RenderAnswer = { parts: RenderedParts } | { error: string };

type Mjml = (source: string, options: object) => Promise<{ html: string }>;

parentPort?.on('message', async (request: RenderRequest) => {
  parentPort?.postMessage(await answer(request));
});

async function answer({ source, scope }: RenderRequest): Promise<RenderAnswer> {
  try {
    const html =
      source.mjml === '' ? render('html', source.html, scope) : await renderMjml(source, scope);
    const text = source.text === '' ? htmlToText(html) : render('text', source.text, scope);
    const subject = render('text', source.subject, scope);
    // Here, so that what is too large is not copied out of the thread.
    checkPart('subject', subject.length);
    checkPart('html', html.length);
    checkPart('text', text.length);
    return { parts: { subject, html, text } };
  } catch (error) {
    return { error: error instanceof Error ? error.message : 'rendering failed' };
  }
}

/** The values are escaped before MJML sees them, so they can't make blocks. */
async function renderMjml({ mjml: template, utm }: SlowSource, scope: Scope): Promise<string> {
  const mjml: Mjml = createRequire(import.meta.url)('mjml');
  const { html } = await mjml(render('html', template, scope), {
    validationLevel: 'skip',
    ignoreIncludes: true,
  });
  return layLinks(html, { utm }).html;
}

const parsedMax = { entriesMax: 30, textMaxBytes: 8 * 1024 * 1024 };
const parsed = {
  html: rememberLong(parsedMax, (source) => parseLiquid(source, 'html')),
  text: rememberLong(parsedMax, (source) => parseLiquid(source, 'text')),
};

function render(place: Place, source: string, scope: Scope): string {
  return renderNodes(place, parsed[place](source), newContext(place, scope));
}
