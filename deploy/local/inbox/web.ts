import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { simpleParser } from 'mailparser';
import type { Filter, Mail, Mailbox } from './mailbox.ts';
import { listPage, mailPage, type View, views } from './pages.ts';

type Answer = { status?: number; type: string; body: string; policy?: string };
type Question = { box: Mailbox; query: URLSearchParams; id: number };

const limitMax = 1_000;
const pageLimit = 50;
const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'";
/** Lets a mail use its own styles and images, isolated from the page. */
const mailPolicy =
  "default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline'; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

const routes: [method: string, path: RegExp, answer: (q: Question) => Answer | Promise<Answer>][] =
  [
    ['GET', /^\/$/, list],
    ['GET', /^\/mails\/(\d{1,15})$/, mail],
    ['GET', /^\/mails\/(\d{1,15})\/html$/, mailHtml],
    ['GET', /^\/api\/mails$/, listJson],
    ['GET', /^\/api\/mails\/(\d{1,15})$/, mailJson],
    ['GET', /^\/api\/counts$/, counts],
    ['GET', /^\/api\/duplicates$/, duplicates],
    ['DELETE', /^\/api\/mails$/, clear],
  ];
const notFound: Answer = { status: 404, ...json({ error: 'not found' }) };

/** Shows the mails to people (pages) and programs (JSON). */
export async function startWeb(
  box: Mailbox,
  { host, port }: { host: string; port: number },
): Promise<{ stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    answer(box, request).then(
      (it) => send(response, it),
      () => send(response, { status: 500, ...json({ error: 'the inbox failed' }) }),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    stop: async () => {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

async function answer(box: Mailbox, request: IncomingMessage): Promise<Answer> {
  // DNS rebinding: another site can point its name to this address, so only the own names are answered.
  if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(request.headers.host ?? '')) {
    return { status: 403, ...json({ error: 'unknown host' }) };
  }
  const url = new URL(request.url ?? '/', 'http://inbox');
  const here = routes.filter(([, path]) => path.test(url.pathname));
  if (here.length === 0) return notFound;
  const found = here.find(([method]) => method === request.method);
  if (found === undefined) return { status: 405, ...json({ error: 'method not allowed' }) };
  const id = Number(found[1].exec(url.pathname)?.[1]);
  return found[2]({ box, query: url.searchParams, id });
}

function list({ box, query }: Question): Answer {
  const found = box.find(filterOf(query));
  const offset = numberOf(query.get('offset'), 0, found.length);
  const mails = found.slice(offset, offset + pageLimit);
  const to = query.get('to') ?? '';
  const body = listPage({ mails, total: found.length, to, offset, limit: pageLimit });
  return { type: 'text/html', body, policy: pagePolicy };
}

async function mail({ box, query, id }: Question): Promise<Answer> {
  const found = await box.read(id);
  if (found === undefined) return notFound;
  const view = views.find((name) => name === query.get('view')) ?? 'html';
  const body = mailPage(found.mail, view, await textOf(view, found.raw));
  return { type: 'text/html', body, policy: pagePolicy };
}

async function textOf(view: View, raw: Buffer): Promise<string> {
  if (view === 'html') return '';
  if (view === 'source') return raw.toString('utf8');
  const parsed = await simpleParser(raw);
  if (view === 'text') return parsed.text ?? '';
  return parsed.headerLines.map(({ line }) => line).join('\n');
}

async function mailHtml({ box, id }: Question): Promise<Answer> {
  const found = await box.read(id);
  if (found === undefined) return notFound;
  const parsed = await simpleParser(found.raw);
  const page = parsed.html || parsed.textAsHtml || '';
  const base = '<base target="_blank">';
  const body = /<head[^>]*>/i.test(page)
    ? page.replace(/<head[^>]*>/i, (head) => head + base)
    : base + page;
  return { type: 'text/html', body, policy: mailPolicy };
}

function listJson({ box, query }: Question): Answer {
  const found = box.find(filterOf(query));
  const limit = numberOf(query.get('limit'), 100, limitMax);
  const offset = numberOf(query.get('offset'), 0, found.length);
  const mails = found.slice(offset, offset + limit).map(mailFields);
  return json({ total: found.length, mails });
}

async function mailJson({ box, id }: Question): Promise<Answer> {
  const found = await box.read(id);
  if (found === undefined) return notFound;
  const { text = '', html, headerLines } = await simpleParser(found.raw);
  const headers = headerLines.map(({ line }) => line);
  return json({ ...mailFields(found.mail), html: html || '', text, headers });
}

function counts({ box, query }: Question): Answer {
  const found = box.find(filterOf(query));
  const recipients = new Set(found.flatMap(({ to }) => to));
  return json({ total: found.length, recipients: recipients.size });
}

/** Mails that arrived more than once for a recipient. */
function duplicates({ box, query }: Question): Answer {
  const counted = new Map<string, { to: string; message_id: string; count: number }>();
  for (const { to, messageId } of box.find(filterOf(query))) {
    for (const address of to) {
      const key = `${address}\n${messageId}`;
      const entry = counted.get(key) ?? { to: address, message_id: messageId, count: 0 };
      entry.count += 1;
      counted.set(key, entry);
    }
  }
  const twice = [...counted.values()].filter(({ count }) => count > 1);
  return json({ total: twice.length, duplicates: twice.slice(0, limitMax) });
}

async function clear({ box }: Question): Promise<Answer> {
  await box.clear();
  return json({ success: true });
}

function mailFields({ id, to, from, subject, messageId, receivedAt }: Mail): object {
  const address = to.join(', ');
  return { id, to: address, from, subject, message_id: messageId, received_at: receivedAt };
}

function filterOf(query: URLSearchParams): Filter {
  const [to, subject, since] = ['to', 'subject', 'since'].map((name) => query.get(name) ?? '');
  return { to, subject, since };
}

function numberOf(text: string | null, fallback: number, max: number): number {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isNaN(number) ? fallback : Math.min(Math.max(number, 0), max);
}

function json(value: unknown): Answer {
  return { type: 'application/json', body: JSON.stringify(value) };
}

function send(response: ServerResponse, { status = 200, type, body, policy }: Answer): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': policy ?? "default-src 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  response.end(body);
}
