import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  type GetWebVersionResponse,
  WebVersionService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { createCache } from '#lib/cache.ts';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { htmlDocument, noIcon } from '#lib/html/document.ts';
import { stylesheet } from '#lib/html/stylesheet.ts';
import { html } from '#lib/html/template.ts';
import { failureOf } from '../api/errors.ts';
import { secretPageHeaders } from '../html/headers.ts';
import type { HtmlPage } from '../html/page.ts';
import type { HttpAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { methodNotAllowed } from '../http/refusal.ts';
import { pageAnswer, paragraph } from './layout.ts';
import { acceptedLanguages, localeFor } from './words.ts';

const path = /^\/w\/([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9_-]{1,64})$/;
/** The stand-in for a token in previews of templates. */
const previewToken = 'preview';
const callTimeoutMs = 10_000;
/** Many may open one link; a mail that is deleted is gone from here as soon. */
const keepMs = 10_000;
const keptMaxBytes = 32 * 1024 * 1024;

/** Undefined where the mail is not kept. */
type Shown = { body: Buffer; packed: Buffer } | undefined;

/** The page that shows a mail to whoever has its link. */
export function webVersionPage(messages: Transport): HtmlPage {
  const client = createClient(WebVersionService, messages);
  const drawn = createCache<Shown>({
    maxBytes: keptMaxBytes,
    sizeOf: (shown) => 100 + (shown ? shown.body.length + shown.packed.length : 0),
    keepMs,
  });
  const draw = async (workspaceId: string, token: string): Promise<Shown> => {
    const key = { workspaceId, token };
    const mail = await client.getWebVersion(key, { timeoutMs: callTimeoutMs });
    if (!mail.isKept) return undefined;
    const body = Buffer.from(documentOf(mail));
    return { body, packed: await promisify(gzip)(body) };
  };
  return {
    name: 'web version',
    answer(exchange) {
      if (!exchange.path.startsWith('/w/')) return undefined;
      return () => answer(exchange, (id, token) => drawn(`${id} ${token}`, () => draw(id, token)));
    },
  };
}

async function answer(
  { path: given, request }: Exchange,
  drawn: (workspaceId: string, token: string) => Promise<Shown>,
): Promise<HttpAnswer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
  const { language, words } = localeFor(acceptedLanguages(request.headers['accept-language']));
  const say = (status: number, title: string, text: string) =>
    pageAnswer({ status, language, title, sender: '', body: paragraph(text) });
  const [, workspaceId, token] = path.exec(given) ?? [];
  if (token === previewToken) return say(200, words.previewLink, words.previewLinkText);
  if (!workspaceId || !token) return say(400, words.badLink, words.badLinkText);
  try {
    const shown = await drawn(workspaceId, token);
    if (!shown) return say(404, words.mailGone, words.mailGoneText);
    return { status: 200, headers, ...shown };
  } catch (error) {
    const { status } = failureOf(error, '');
    if (status === 400) return say(400, words.badLink, words.badLinkText);
    if (status === 429 || status === 503 || status === 504) {
      return say(503, words.tryLater, words.tryLaterText);
    }
    throw error;
  }
}

const style = stylesheet(`
body { background: var(--paper); }
iframe { background: var(--paper); border: 0; color-scheme: light; display: block; height: 100vh; height: 100dvh; width: 100%; }
`);

/**
 * The mail stands in a frame that may do nothing but open links beside it. It has the policy of the
 * page: its own styles and pictures are allowed, and the sandbox runs no script, sends no form and
 * follows no refresh.
 */
const headers = secretPageHeaders(
  contentSecurityPolicy({ style: "'unsafe-inline'", images: ['http:', 'https:', 'data:'] }),
);

function documentOf({ subject, html: mail, text }: GetWebVersionResponse): string {
  const content = mail === '' ? plainText(text) : withLinksBeside(mail);
  return htmlDocument({
    title: subject,
    style,
    head: noIcon,
    body: html`<iframe title="${subject}" sandbox="allow-popups allow-popups-to-escape-sandbox"
referrerpolicy="no-referrer" srcdoc="${content}"></iframe>`,
  });
}

const base = '<base target="_blank">';

/** Behind the doctype, before which nothing may stand. The first base of a document decides. */
function withLinksBeside(mail: string): string {
  const [doctype = ''] = /^\s*<!doctype[^>]*>/i.exec(mail) ?? [];
  return `${doctype}${base}${mail.slice(doctype.length)}`;
}

function plainText(text: string): string {
  return html`<!doctype html>${{ html: base }}<pre
style="font: 16px/1.5 system-ui, sans-serif; margin: 24px auto; max-width: 40em; overflow-wrap: anywhere; padding: 0 16px; white-space: pre-wrap">${text}</pre>`
    .html;
}
