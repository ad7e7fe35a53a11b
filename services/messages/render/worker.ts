import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { rememberLong } from '#lib/cache.ts';
import { htmlToText } from '#lib/html/text.ts';
import { type LiquidScope, newContext, renderNodes, type SourcePlace } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { checkPart } from './budget.ts';
import type { RenderedParts } from './compose.ts';
import { rewriteRendered } from './links.ts';
import type { SlowSource } from './program.ts';
import { type LinkWriting, linkWriters } from './write-link.ts';

/** A thread that renders programs which may run long. The main thread kills it after a timeout. */

export interface RenderRequest {
  source: SlowSource;
  scope: LiquidScope;
}

export type RenderAnswer = { parts: RenderedParts } | { error: string };

type Mjml = (source: string, options: object) => Promise<{ html: string }>;

parentPort?.on('message', async (request: RenderRequest) => {
  parentPort?.postMessage(await answer(request));
});

async function answer({ source, scope }: RenderRequest): Promise<RenderAnswer> {
  try {
    const html =
      source.mjml === ''
        ? render('html', source.html, { source, scope })
        : await renderMjml(source, scope);
    const text =
      source.text === '' ? htmlToText(html) : render('text', source.text, { source, scope });
    const subject = render('text', source.subject, { source, scope });
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
async function renderMjml(source: SlowSource, scope: LiquidScope): Promise<string> {
  const mjml: Mjml = createRequire(import.meta.url)('mjml');
  const { html } = await mjml(render('html', source.mjml, { source, scope }), {
    validationLevel: 'skip',
    ignoreIncludes: true,
  });
  const writeLink = linkWriters(source)('html');
  return rewriteRendered(html, source, {
    token: String(scope.tracking_token ?? ''),
    write: (url) => writeLink(url, source.otherLinks ?? 0, scope),
  });
}

const parsedMax = { entriesMax: 30, textMaxBytes: 8 * 1024 * 1024 };
/** By the JSON of how links are written, a line break, and the source. */
const parsed = { html: rememberParsed('html'), text: rememberParsed('text') };

function rememberParsed(place: SourcePlace) {
  return rememberLong(parsedMax, (key) => {
    const end = key.indexOf('\n');
    const { linkKey, ...links } = JSON.parse(key.slice(0, end));
    const options: LinkWriting = {
      ...links,
      ...(linkKey && { linkKey: Buffer.from(linkKey, 'hex') }),
    };
    return parseLiquid(key.slice(end + 1), place, linkWriters(options)(place));
  });
}

function render(place: SourcePlace, text: string, { source, scope }: RenderRequest): string {
  const { utm, tracking, linkKey } = source;
  const hex = linkKey && Buffer.from(linkKey).toString('hex');
  const links = JSON.stringify({ utm, tracking, linkKey: hex });
  return renderNodes(place, parsed[place](`${links}\n${text}`), newContext(place, scope));
}
