import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallbackFilter, ReceivedCallback } from './callbacks.ts';
import {
  fault,
  type InboxAnswer,
  type InboxRoute,
  json,
  limitMax,
  notFound,
  numberOf,
  page,
  pageLimit,
  type Question,
} from './routes.ts';
import { webhookListPage, webhookPage } from './webhook-pages.ts';

const bodyBytesMax = 300 * 1024;
const secretBytesMax = 1024;
const delayMsMax = 30_000;

export const webhookRoutes: InboxRoute[] = [
  ['POST', /^\/webhooks\/in\/([a-z0-9-]{1,40})$/, receive],
  ['GET', /^\/webhooks$/, list],
  ['GET', /^\/webhooks\/(\d{1,15})$/, one],
  ['GET', /^\/api\/webhooks$/, listJson],
  ['GET', /^\/api\/webhooks\/(\d{1,15})$/, oneJson],
  ['GET', /^\/api\/webhooks\/counts$/, counts],
  ['PUT', /^\/api\/webhooks\/([a-z0-9-]{1,40})\/secret$/, setSecret],
  ['DELETE', /^\/api\/webhooks$/, clear],
];

/**
 * Answers 204, or late and with another status where the address asks for it, so that failures can
 * be tried.
 */
async function receive({
  callbacks,
  request,
  query,
  part,
  signal,
}: Question): Promise<InboxAnswer> {
  const status = wholeNumber(query.get('status') ?? '204');
  if (!(status >= 200 && status <= 599)) return fault(400, 'status must be from 200 to 599');
  const delayMs = wholeNumber(query.get('delay_ms') ?? '0');
  if (!(delayMs <= delayMsMax)) return fault(400, `delay_ms must be from 0 to ${delayMsMax}`);
  const body = await readBody(request, bodyBytesMax);
  if (body === undefined) return fault(413, 'a body may have 300 KiB');
  callbacks.add({ name: part, status, headers: headersOf(request), body });
  await sleep(delayMs, undefined, { signal });
  return { status, ...json({ status }) };
}

async function setSecret({ callbacks, request, part }: Question): Promise<InboxAnswer> {
  const body = await readBody(request, secretBytesMax);
  try {
    const { secret } = JSON.parse(String(body));
    callbacks.setSecret(part, secret);
  } catch {
    return fault(400, 'the body must be {"secret": "whsec_..."}');
  }
  return json({ success: true });
}

function list({ callbacks, query }: Question): InboxAnswer {
  const filter = filterOf(query);
  const found = callbacks.find(filter);
  const types = new Set(callbacks.find({}).map(({ type }) => type));
  const offset = numberOf(query.get('offset'), 0, found.length);
  return page(
    webhookListPage({
      callbacks: found.slice(offset, offset + pageLimit),
      types: [...types].filter(Boolean).sort(),
      total: found.length,
      filter,
      offset,
      limit: pageLimit,
    }),
  );
}

function one({ callbacks, part }: Question): InboxAnswer {
  const found = callbacks.read(Number(part));
  return found ? page(webhookPage(found)) : notFound;
}

function listJson({ callbacks, query }: Question): InboxAnswer {
  const found = callbacks.find(filterOf(query));
  const limit = numberOf(query.get('limit'), 100, limitMax);
  const offset = numberOf(query.get('offset'), 0, found.length);
  return json({
    total: found.length,
    webhooks: found.slice(offset, offset + limit).map(fieldsOf),
  });
}

function oneJson({ callbacks, part }: Question): InboxAnswer {
  const found = callbacks.read(Number(part));
  if (!found) return notFound;
  return json({ ...fieldsOf(found), headers: found.headers, body: found.body.toString('utf8') });
}

/** By type: how many have come, with how many different ids, and how many of them verified. */
function counts({ callbacks, query }: Question): InboxAnswer {
  const found = callbacks.find(filterOf(query));
  const byType = [...Map.groupBy(found, ({ type }) => type)].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return json({
    ...tally(found),
    types: Object.fromEntries(byType.map(([type, some]) => [type, tally(some)])),
  });
}

function tally(found: readonly ReceivedCallback[]) {
  return {
    events: found.length,
    distinct: new Set(found.map(({ name, id }) => `${name}\n${id}`)).size,
    verified: found.filter(({ verdict }) => verdict === 'verified').length,
  };
}

function clear({ callbacks }: Question): InboxAnswer {
  callbacks.clear();
  return json({ success: true });
}

function fieldsOf({
  number,
  name,
  type,
  id,
  times,
  attempt,
  receivedAt,
  ...rest
}: ReceivedCallback) {
  const { verdict, reason, status } = rest;
  return {
    number,
    name,
    type,
    id,
    times,
    attempt,
    received_at: receivedAt,
    verdict,
    reason,
    status,
  };
}

function filterOf(query: URLSearchParams): CallbackFilter {
  return { name: query.get('name') ?? '', type: query.get('type') ?? '' };
}

const wholeNumber = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN);

/** Undefined if it is larger than that; the rest is not read. */
async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const names = rawHeaders.filter((_, at) => at % 2 === 0);
  return names.map((name, at) => [name, rawHeaders[2 * at + 1] ?? '']);
}
