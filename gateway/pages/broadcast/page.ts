import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createClient, type Transport } from '@connectrpc/connect';
import { BroadcastPageService } from '#gen/postrider/broadcasts/v1/page_pb.ts';
import { createCache } from '#lib/cache.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { failureOf } from '../../api/errors.ts';
import type { HtmlPage } from '../../html/page.ts';
import type { HttpAnswer } from '../../http/answer.ts';
import type { Exchange } from '../../http/exchange.ts';
import { methodNotAllowed } from '../../http/refusal.ts';
import { type BroadcastReport, messagePage, reportOf } from './report.ts';

const prefix = '/broadcasts/';
const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
const tokenPattern = /^[A-Za-z0-9_-]{1,255}$/;
const callTimeoutMs = 10_000;
/** Many people may look at once; drawing takes some milliseconds. */
const keepMs = 2_000;
const keptMaxBytes = 32 * 1024 * 1024;

type PageContext = { broadcasts: Transport; authorization: Authorization };
type Drawn = BroadcastReport & { packed: Buffer };

/** The page of a broadcast, for whoever has its link. */
export function broadcastPage({ broadcasts, authorization }: PageContext): HtmlPage {
  const client = createClient(BroadcastPageService, broadcasts);
  const drawn = createCache<Drawn>({
    maxBytes: keptMaxBytes,
    sizeOf: ({ body, packed }) => body.length + packed.length,
    keepMs,
  });
  const draw = async (id: string, token: string): Promise<Drawn> => {
    const headers = { authorization: await authorization() };
    const options = { timeoutMs: callTimeoutMs, headers };
    const report = reportOf(await client.getBroadcastPage({ id, token }, options));
    return { ...report, packed: await promisify(gzip)(report.body) };
  };
  return {
    name: 'broadcast',
    answer(exchange) {
      if (!exchange.path.startsWith(prefix)) return undefined;
      return () => answer(exchange, (id, token) => drawn(`${id} ${token}`, () => draw(id, token)));
    },
  };
}

async function answer(
  { path, query, request }: Exchange,
  drawn: (id: string, token: string) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
  const id = path.slice(prefix.length);
  const token = query.get('token') ?? '';
  if (!idPattern.test(id) || !tokenPattern.test(token)) return badLink();
  try {
    return await drawn(id, token);
  } catch (error) {
    const { status } = failureOf(error, '');
    if (status === 400 || status === 404) return badLink();
    if (status === 503 || status === 504) return tryLater();
    throw error;
  }
}

const badLink = () =>
  messagePage(
    404,
    'This link is not valid',
    'It has expired, is not complete, or its broadcast was deleted. The operation broadcasts.get of the API answers a new link as page_url.',
  );

const tryLater = () =>
  messagePage(503, 'Try again later', 'The broadcast cannot be read at the moment.');
