import { html } from '#lib/html/template.ts';
import { docsPage } from '../docs/page.ts';
import { pageHeaders } from '../html/headers.ts';
import type { HtmlPage } from '../html/page.ts';
import { emptyAnswer, type HttpAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { notFound, requireReading } from '../http/refusal.ts';
import { GuideFolder } from './folder.ts';

const start = '/guide/';
/** Agents look for these at the root of a site. */
const atRoot = new Set(['/llms.txt', '/llms-full.txt']);

/** The guide below `/guide/`, and its texts for programs, from the folder that it is built into. */
export function guidePage(folder: string): HtmlPage {
  const guide = new GuideFolder(folder);
  return {
    name: 'guide',
    answer(exchange) {
      const { path } = exchange;
      if (path === '/guide') return async () => movedTo(start);
      if (atRoot.has(path)) return () => answerFrom(guide, exchange, path.slice(1));
      if (!path.startsWith(start)) return undefined;
      return () => answerFrom(guide, exchange, path.slice(start.length));
    },
  };
}

async function answerFrom(
  guide: GuideFolder,
  { request, path }: Exchange,
  asked: string,
): Promise<HttpAnswer> {
  if (request.method === 'OPTIONS') return emptyAnswer('GET, HEAD, OPTIONS');
  requireReading(request.method);
  const files = await guide.files();
  if (!files) return notBuilt(path);
  if (files.has(`${asked}/index.html`)) return movedTo(`${start}${asked}/`);
  const found = fileOf(files, asked);
  const answer = found === undefined ? undefined : await guide.answer(found);
  return answer ?? notInGuide(guide);
}

/** The file of a path: itself, the page of that name, or the first page of a folder. */
function fileOf(files: ReadonlySet<string>, path: string): string | undefined {
  const names = path === '' || path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`];
  return names.find((name) => files.has(name));
}

async function notInGuide(guide: GuideFolder): Promise<HttpAnswer> {
  const page = await guide.answer('404.html');
  if (!page) throw notFound();
  const { etag: _, ...headers } = page.headers;
  return { ...page, status: 404, headers: { ...headers, 'cache-control': 'no-store' } };
}

const unbuilt = docsPage(
  'The guide is not built here',
  html`<p><code>npm run guide</code> in the folder of Postrider builds it, in about a quarter of a minute. <code>npm start</code> and
<code>npm run demo</code> build it by themselves while they run, so that it may be here in a moment. The image has it. The same pages are in
<code>docs</code> of the sources.</p>`,
);

function notBuilt(path: string): HttpAnswer {
  if (path !== start) throw notFound();
  const headers = { ...pageHeaders(unbuilt.policy), 'cache-control': 'no-store' };
  return { status: 200, headers, body: unbuilt.text };
}

function movedTo(location: string): HttpAnswer {
  return { status: 308, headers: { location, 'cache-control': 'public, max-age=300' }, body: '' };
}
