import type { IncomingHttpHeaders } from 'node:http';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { isbot } from 'isbot';
import type { TrackingService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { createCache, remember } from '#lib/cache.ts';
import type { createLinkReader } from '#lib/keys/signed-link.ts';
import type { createTrackingReader } from '#lib/keys/tracking-token.ts';
import { TokenBuckets } from '#lib/limits/token-buckets.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { busy } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import type { Hits } from './hits.ts';
import type { HtmlPage } from './page.ts';

export type HitTracking = {
  messages: Pick<Client<typeof TrackingService>, 'getTrackedLinks'>;
  readToken: ReturnType<typeof createTrackingReader>;
  readLink: ReturnType<typeof createLinkReader>;
  hits: Hits;
};

const openPath = /^\/t\/([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9_-]{43})$/;
/** The last part is there where the address depends on the recipient. */
const clickPath =
  /^\/r\/([A-Za-z0-9_-]{1,64})\/([A-Za-z0-9_-]{43})\/(\d{1,4})(?:\/([A-Za-z0-9_-]{23,2800}))?$/;
const callTimeoutMs = 10_000;

// If a proxy cached the picture, only the first of its readers would count.
const uncached = { 'cache-control': 'no-store, private', 'x-robots-tag': 'noindex' };
const pixel: HttpAnswer = {
  status: 200,
  headers: { ...uncached, 'content-type': 'image/gif' },
  body: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
};

/**
 * The pixel in a mail. Its answer is the same for every link up to the limit of wrong ones, so it
 * reveals nothing.
 */
export function openPage({ readToken, hits }: HitTracking): HtmlPage {
  const wrongs = wrongLinks();
  return {
    name: 'open',
    isOfMails: true,
    answer(exchange) {
      if (!exchange.path.startsWith('/t/')) return undefined;
      return () => open({ readToken, hits }, wrongs, exchange);
    },
  };
}

async function open(
  { readToken, hits }: Pick<HitTracking, 'readToken' | 'hits'>,
  wrongs: TokenBuckets,
  { path, request, clientAddress }: Exchange,
): Promise<HttpAnswer> {
  requireReading(request.method);
  const [, workspaceId, token] = openPath.exec(path) ?? [];
  if (workspaceId && token && readToken(workspaceId, token)) {
    hits.add({ workspaceId, token, occurredAt: timestampNow(), isBot: isProgram(request) });
  } else {
    takeWrong(wrongs, clientAddress);
  }
  return pixel;
}

/**
 * A tracked link in a mail. It redirects only to addresses that the mail's author gave, or that are
 * signed.
 */
export function clickPage(tracking: HitTracking): HtmlPage {
  const locationsOf = linkSets(tracking);
  const wrongs = wrongLinks();
  return {
    name: 'click',
    isOfMails: true,
    answer(exchange) {
      if (!exchange.path.startsWith('/r/')) return undefined;
      return () =>
        click(tracking, locationsOf, exchange).catch((error) => {
          if (error instanceof UnknownLink) takeWrong(wrongs, exchange.clientAddress);
          throw error;
        });
    },
  };
}

type Locations = readonly (string | undefined)[];
type LocationsOf = (workspaceId: string, token: string, linkSet: Buffer) => Promise<Locations>;

async function click(
  { readToken, readLink, hits }: HitTracking,
  locationsOf: LocationsOf,
  { path, request }: Exchange,
): Promise<HttpAnswer> {
  requireReading(request.method);
  const [, workspaceId, token, digits, signed] = clickPath.exec(path) ?? [];
  const tracked = workspaceId && token ? readToken(workspaceId, token) : undefined;
  if (!workspaceId || !token || !tracked) throw new UnknownLink();
  const link = Number(digits);
  const location =
    signed === undefined
      ? (await locationsOf(workspaceId, token, tracked.linkSet))[link]
      : locationOf(readLink(workspaceId, { token, number: link, signed }) ?? '');
  if (location === undefined) throw new UnknownLink();
  hits.add({ workspaceId, token, link, occurredAt: timestampNow(), isBot: isProgram(request) });
  return {
    status: 302,
    headers: { ...uncached, location, 'referrer-policy': 'no-referrer' },
    body: '',
  };
}

/** An address as a header may carry it; undefined if it is not of the web. */
function locationOf(address: string): string | undefined {
  const isWeb = /^https?:\/\//i.test(address) && URL.canParse(address);
  return isWeb ? new URL(address).href : undefined;
}

class UnknownLink extends Refusal {
  constructor() {
    super(404, 'not_found', 'Not found');
  }
}

/**
 * Of one address a second, and at once. Programs that fetch the links of many readers have right
 * ones.
 */
const wrongsPerSecond = 10;
const wrongsBurst = 50;

const wrongLinks = () => new TokenBuckets(wrongsPerSecond, { burst: wrongsBurst });

function takeWrong(wrongs: TokenBuckets, clientAddress: string): void {
  const { isRefused, resetMs } = wrongs.take(clientNetwork(clientAddress));
  if (!isRefused) return;
  const seconds = Math.max(1, Math.ceil(resetMs / 1_000));
  const text = 'too many wrong links from this address; slow down';
  throw new Refusal(429, 'resource_exhausted', text, { 'retry-after': String(seconds) });
}

function requireReading(method: string | undefined): void {
  if (method === 'GET' || method === 'HEAD') return;
  const allow = { allow: 'GET, HEAD, OPTIONS' };
  throw new Refusal(405, 'method_not_allowed', 'Method not allowed', allow);
}

// The readers of a mail share few programs, and the check is a search by a very long pattern.
const isBot = remember(1_000, isbot);

/** Whether the request is a program's: by its user agent, a prefetch of a browser, or HEAD. */
function isProgram({
  method,
  headers,
}: {
  method?: string;
  headers: IncomingHttpHeaders;
}): boolean {
  const purpose =
    headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'];
  if (method === 'HEAD' || /prefetch|preview|prerender/i.test(String(purpose ?? ''))) return true;
  const agent = headers['user-agent'];
  return agent === undefined || isBot(agent);
}

const setsMax = 1_000;
/**
 * Clicks have nobody's share of the requests in progress, so that those that wait for messages
 * could take all of them.
 */
const waitingMax = 256;

/** A set of links never changes, so it is cached without a time limit. */
function linkSets({ messages }: HitTracking): LocationsOf {
  const sets = createCache<Locations>({ entriesMax: setsMax });
  const load = async (workspaceId: string, token: string): Promise<Locations> => {
    const asked = { workspaceId, token };
    const { urls } = await messages.getTrackedLinks(asked, { timeoutMs: callTimeoutMs });
    // An address with Liquid in it depends on the recipient, so that only signed ones are right.
    return urls.map((url) => (/\{[{%]/.test(url) ? undefined : locationOf(url)));
  };
  let waiting = 0;
  const requireRoom = () => {
    if (waiting >= waitingMax) throw busy();
  };
  return async (workspaceId, token, linkSet) => {
    const found = sets(`${workspaceId} ${linkSet.toString('hex')}`, async () => {
      requireRoom();
      return load(workspaceId, token);
    });
    // Undefined if it is still being loaded.
    const known = await Promise.race([found, undefined]);
    if (known) return known;
    requireRoom();
    waiting += 1;
    try {
      return await found;
    } finally {
      waiting -= 1;
    }
  };
}
