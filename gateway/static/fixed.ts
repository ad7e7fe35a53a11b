import { gzipSync } from 'node:zlib';
import type { HtmlPage } from '../html/page.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { fromAnySite, preflightHeaders } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import { methodNotAllowed } from '../http/refusal.ts';

/** For what may change with the next release. */
const cacheSeconds = 300;

/** An answer that is made and compressed once. */
export function fixedAnswer(
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
  packed: Buffer = gzipSync(body),
): HttpAnswer {
  return {
    status: 200,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': `public, max-age=${cacheSeconds}`,
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body,
    packed,
  };
}

/** Serves fixed answers by their paths, to pages of any site. */
export function fixedPage(name: string, answers: ReadonlyMap<string, HttpAnswer>): HtmlPage {
  return {
    name,
    answer(exchange) {
      const found = answers.get(exchange.path);
      return found && (() => answerFixed(exchange, found));
    },
  };
}

async function answerFixed(
  { request, response }: Exchange,
  answer: HttpAnswer,
): Promise<HttpAnswer> {
  const allow = 'GET, HEAD, OPTIONS';
  fromAnySite(response);
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return answer;
    case 'OPTIONS':
      return { status: 204, headers: { allow, ...preflightHeaders('GET') }, body: '' };
    default:
      throw methodNotAllowed(allow);
  }
}
