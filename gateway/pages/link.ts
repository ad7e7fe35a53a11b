import { type CallOptions, type Client, createClient, type Transport } from '@connectrpc/connect';
import {
  type GetLinkResponse,
  MessageLinkService,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { html } from '#lib/html/template.ts';
import { requestIdHeader } from '#lib/rpc/request-id.ts';
import { failureOf } from '../api/errors.ts';
import type { HtmlPage, PageAdmission } from '../html/page.ts';
import type { HttpAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { methodNotAllowed } from '../http/refusal.ts';
import { button, type LayoutContent, pageAnswer, paragraph } from './layout.ts';
import type { Words } from './words/en.ts';
import { acceptedLanguages, localeFor, type PageLocale } from './words.ts';

/** A recipient who has opened a link of a mail. */
export type Visit = {
  key: { workspaceId: string; token: string };
  /** The recipient's data; undefined if it could not be loaded. */
  link: GetLinkResponse | undefined;
  client: Client<typeof MessageLinkService>;
  options: CallOptions;
} & PageLocale;

/** The content of a page, in the language of the visit unless `language` names another. */
export type PageContent = Pick<LayoutContent, 'title' | 'body'> & {
  status?: number;
  language?: string;
};

/**
 * A page behind a link of a mail. Opening it changes nothing, since mail scanners open every link.
 */
export type LinkPage = {
  name: string;
  /** The path begins with it, as in `/u/<workspace>/<token>`. */
  prefix: string;
  show(visit: Visit): PageContent;
  submit(visit: Visit, form: URLSearchParams): Promise<PageContent>;
};

const rest = /^([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9._~-]{1,1024})$/;
// Enough for a form with a thousand lists; mail programs post a few bytes.
const bodyLimitBytes = 128 * 1024;
const callTimeoutMs = 10_000;

/** The path of another kind of link for the same mail. */
export function linkPath(prefix: string, { workspaceId, token }: Visit['key']): string {
  return `${prefix}${workspaceId}/${token}`;
}

export function linkPage(messages: Transport, page: LinkPage): HtmlPage {
  const client = createClient(MessageLinkService, messages);
  return {
    name: page.name,
    answer(exchange, admission) {
      if (!exchange.path.startsWith(page.prefix)) return undefined;
      return async () => {
        const [, workspaceId, token] = rest.exec(exchange.path.slice(page.prefix.length)) ?? [];
        const accepted = localeFor(acceptedLanguages(exchange.request.headers['accept-language']));
        if (!workspaceId || !token) return answer(accepted, badLink(accepted.words));
        return visit(page, client, { exchange, admission, accepted, key: { workspaceId, token } });
      };
    },
  };
}

type Opened = {
  exchange: Exchange;
  admission: PageAdmission;
  accepted: PageLocale;
  key: Visit['key'];
};

async function visit(page: LinkPage, client: Visit['client'], opened: Opened): Promise<HttpAnswer> {
  const { exchange, admission, accepted, key } = opened;
  const { request, id, signal } = exchange;
  const isPost = request.method === 'POST';
  if (!isPost && request.method !== 'GET' && request.method !== 'HEAD') {
    throw methodNotAllowed('GET, HEAD, POST, OPTIONS');
  }
  const body = isPost ? await admission.readBody(exchange, bodyLimitBytes) : Buffer.alloc(0);
  const headers = { [requestIdHeader]: id };
  const options = { headers, signal, timeoutMs: callTimeoutMs };
  const { link, isOurs } = await readLink(client, key, options);
  const locale = link?.language ? localeFor([link.language]) : accepted;
  if (!isOurs) return answer(locale, badLink(locale.words));
  const visited = { ...locale, key, link, client, options };
  const submit = () => page.submit(visited, new URLSearchParams(body.toString('utf8')));
  const content = isPost ? await outcome(submit, locale.words) : page.show(visited);
  return answer(locale, content, link?.workspaceName);
}

/** Unsubscribing must work even when the contact cannot be loaded. */
async function readLink(client: Visit['client'], key: Visit['key'], options: CallOptions) {
  try {
    return { link: await client.getLink(key, options), isOurs: true };
  } catch (error) {
    return { link: undefined, isOurs: failureOf(error, '').status !== 400 };
  }
}

async function outcome(submit: () => Promise<PageContent>, words: Words): Promise<PageContent> {
  try {
    return await submit();
  } catch (error) {
    return failureOf(error, '').status === 400 ? badLink(words) : tryLater(words);
  }
}

function badLink(words: Words): PageContent {
  return { status: 400, title: words.badLink, body: paragraph(words.badLinkText) };
}

/** The page for a confirmation that is too late. */
export function expired(words: Words): PageContent {
  return { title: words.expired, body: paragraph(words.expiredText) };
}

/** The page for a service that cannot be reached. */
export function tryLater(words: Words): PageContent {
  const body = html`${paragraph(words.tryLaterText)}${button(words.tryAgain)}`;
  return { status: 503, title: words.tryLater, body };
}

function answer(
  locale: PageLocale,
  { status = 200, ...content }: PageContent,
  sender = '',
): HttpAnswer {
  return pageAnswer({ language: locale.language, sender, status, ...content });
}

/** A text with the name of a list filled in. */
export function about(text: string, listName: string): string {
  return text.replace('{list}', () => listName);
}
