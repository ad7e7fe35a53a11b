import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { createTrackingReader } from '#lib/keys/tracking-token.ts';
import type { HtmlPage, PageAdmission } from '../html/page.ts';
import type { HttpAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { requireReading } from '../http/refusal.ts';
import type { Hits } from './hit-queue.ts';
import { isProgram } from './programs.ts';
import { uncached } from './uncached.ts';

export type PixelNeeds = { readToken: ReturnType<typeof createTrackingReader>; hits: Hits };

const path = /^\/t\/([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9_-]{43})$/;
const pixel: HttpAnswer = {
  status: 200,
  headers: { ...uncached, 'content-type': 'image/gif' },
  body: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
};

/**
 * The pixel in a mail. Its answer is the same for every link up to the limit of wrong ones, so it
 * reveals nothing.
 */
export function openPage(needs: PixelNeeds): HtmlPage {
  return {
    name: 'open',
    isOfMails: true,
    answer(exchange, admission) {
      if (!exchange.path.startsWith('/t/')) return undefined;
      return () => open(needs, exchange, admission);
    },
  };
}

async function open(
  { readToken, hits }: PixelNeeds,
  exchange: Exchange,
  admission: PageAdmission,
): Promise<HttpAnswer> {
  const { request } = exchange;
  requireReading(request.method);
  const [, workspaceId, token] = path.exec(exchange.path) ?? [];
  if (workspaceId && token && readToken(workspaceId, token)) {
    hits.add({ workspaceId, token, occurredAt: timestampNow(), isBot: isProgram(request) });
  } else {
    admission.countWrongLink('open', exchange);
  }
  return pixel;
}
