import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { createLinkReader } from '#lib/keys/signed-link.ts';
import type { createTrackingReader } from '#lib/keys/tracking-token.ts';
import type { HtmlPage, PageAdmission } from '../html/page.ts';
import type { HttpAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { notFound, requireReading } from '../http/refusal.ts';
import type { Hits } from './hit-queue.ts';
import { type ReadLinks, webAddress } from './link-sets.ts';
import { isProgram } from './programs.ts';
import { uncached } from './uncached.ts';

export type LinkNeeds = {
  readToken: ReturnType<typeof createTrackingReader>;
  readSigned: ReturnType<typeof createLinkReader>;
  readLinks: ReadLinks;
  hits: Hits;
};

/** The last part is there where the address depends on the recipient. */
const linkPath =
  /^\/r\/([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9_-]{43})\/(\d{1,4})(?:\/([A-Za-z0-9_-]{23,2800}))?$/;

/**
 * A tracked link in a mail. It redirects only to addresses that the mail's author gave, or that are
 * signed.
 */
export function clickPage(needs: LinkNeeds): HtmlPage {
  return {
    name: 'click',
    isOfMails: true,
    answer(exchange, admission) {
      if (!exchange.path.startsWith('/r/')) return undefined;
      return () => click(needs, exchange, admission);
    },
  };
}

async function click(
  { readToken, readSigned, readLinks, hits }: LinkNeeds,
  exchange: Exchange,
  admission: PageAdmission,
): Promise<HttpAnswer> {
  const { path, request } = exchange;
  requireReading(request.method);
  const [, workspaceId, token, digits, signed] = linkPath.exec(path) ?? [];
  const tracked = workspaceId && token ? readToken(workspaceId, token) : undefined;
  if (!workspaceId || !token || !tracked) throw wrongLink(exchange, admission);
  const link = Number(digits);
  const { linkSet } = tracked;
  const location =
    signed === undefined
      ? (await readLinks({ workspaceId, token, linkSet }, admission))[link]
      : webAddress(readSigned(workspaceId, { token, number: link, signed }) ?? '');
  if (location === undefined) throw wrongLink(exchange, admission);
  hits.add({ workspaceId, token, link, occurredAt: timestampNow(), isBot: isProgram(request) });
  return {
    status: 302,
    headers: { ...uncached, location, 'referrer-policy': 'no-referrer' },
    body: '',
  };
}

function wrongLink(exchange: Exchange, admission: PageAdmission): Error {
  admission.countWrongLink('click', exchange);
  return notFound();
}
