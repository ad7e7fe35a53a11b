import { simpleParser } from 'mailparser';
import { listPage, mailPage, type View, views } from './mail-pages.ts';
import type { Filter, Mail } from './mailbox.ts';
import {
  type Answer,
  json,
  limitMax,
  notFound,
  numberOf,
  page,
  pageLimit,
  type Question,
  type Route,
} from './routes.ts';

/** Lets a mail use its own styles and images, isolated from the page. */
const mailPolicy =
  "default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline'; frame-ancestors 'self'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';

export const mailRoutes: Route[] = [
  ['GET', /^\/$/, list],
  ['GET', /^\/mails\/(\d{1,15})$/, mail],
  ['GET', /^\/mails\/(\d{1,15})\/html$/, mailHtml],
  ['GET', /^\/api\/mails$/, listJson],
  ['GET', /^\/api\/mails\/(\d{1,15})$/, mailJson],
  ['GET', /^\/api\/counts$/, counts],
  ['GET', /^\/api\/duplicates$/, duplicates],
  ['DELETE', /^\/api\/mails$/, clear],
];

function list({ box, query }: Question): Answer {
  const found = box.find(filterOf(query));
  const offset = numberOf(query.get('offset'), 0, found.length);
  const mails = found.slice(offset, offset + pageLimit);
  const to = query.get('to') ?? '';
  return page(listPage({ mails, total: found.length, to, offset, limit: pageLimit }));
}

async function mail({ box, query, part }: Question): Promise<Answer> {
  const found = await box.read(Number(part));
  if (found === undefined) return notFound;
  const view = views.find((name) => name === query.get('view')) ?? 'html';
  return page(mailPage(found.mail, view, await textOf(view, found.raw)));
}

async function textOf(view: View, raw: Buffer): Promise<string> {
  if (view === 'html') return '';
  if (view === 'source') return raw.toString('utf8');
  const parsed = await simpleParser(raw);
  if (view === 'text') return parsed.text ?? '';
  return parsed.headerLines.map(({ line }) => line).join('\n');
}

async function mailHtml({ box, part }: Question): Promise<Answer> {
  const found = await box.read(Number(part));
  if (found === undefined) return notFound;
  const parsed = await simpleParser(found.raw);
  const source = parsed.html || parsed.textAsHtml || '';
  const base = '<base target="_blank">';
  const body = /<head[^>]*>/i.test(source)
    ? source.replace(/<head[^>]*>/i, (head) => head + base)
    : base + source;
  return { type: 'text/html', body, policy: mailPolicy };
}

function listJson({ box, query }: Question): Answer {
  const found = box.find(filterOf(query));
  const limit = numberOf(query.get('limit'), 100, limitMax);
  const offset = numberOf(query.get('offset'), 0, found.length);
  const mails = found.slice(offset, offset + limit).map(mailFields);
  return json({ total: found.length, mails });
}

async function mailJson({ box, part }: Question): Promise<Answer> {
  const found = await box.read(Number(part));
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
