import { type Attachment, type ParsedMail, simpleParser } from 'mailparser';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import type { Mail } from './mail.ts';
import { listPage, mailPage, type Shown, type View, views } from './mail-pages.ts';
import type { MailFilter } from './mailbox.ts';
import {
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

/** Lets a mail use its own styles and images, isolated from the page. */
const mailPolicy = contentSecurityPolicy({
  style: "'unsafe-inline'",
  images: ['http:', 'https:', 'data:'],
  framedBy: "'self'",
  sandbox: ['allow-popups', 'allow-popups-to-escape-sandbox'],
});

export const mailRoutes: InboxRoute[] = [
  ['GET', /^\/$/, list],
  ['GET', /^\/mails\/(\d{1,15})$/, mail],
  ['GET', /^\/mails\/(\d{1,15})\/html$/, mailHtml],
  ['GET', /^\/mails\/(\d{1,15}\/attachments\/\d{1,3})$/, attachment],
  ['GET', /^\/api\/mails$/, listJson],
  ['GET', /^\/api\/mails\/(\d{1,15})$/, mailJson],
  ['GET', /^\/api\/counts$/, counts],
  ['GET', /^\/api\/duplicates$/, duplicates],
  ['DELETE', /^\/api\/mails$/, clear],
];

function list({ box, query }: Question): InboxAnswer {
  const found = box.find(filterOf(query));
  const offset = numberOf(query.get('offset'), 0, found.length);
  const mails = found.slice(offset, offset + pageLimit);
  const to = query.get('to') ?? '';
  return page(listPage({ mails, total: found.length, to, offset, limit: pageLimit }));
}

async function mail({ box, query, part }: Question): Promise<InboxAnswer> {
  const found = await box.read(Number(part));
  if (found === undefined) return notFound;
  const view = views.find((name) => name === query.get('view')) ?? 'desktop';
  const parsed = await simpleParser(found.raw);
  const cc = addressesOf(parsed.cc);
  const text = textOf(view, found.raw, parsed);
  return page(mailPage(found.mail, view, { text, cc, attachments: filesOf(parsed) }));
}

function textOf(view: View, raw: Buffer, { text = '', headerLines }: ParsedMail): string {
  if (view === 'source') return raw.toString('utf8');
  if (view === 'text') return text;
  return view === 'headers' ? headerLines.map(({ line }) => line).join('\n') : '';
}

function addressesOf(field: ParsedMail['cc']): string {
  return [field ?? []]
    .flat()
    .map(({ text }) => text)
    .join(', ');
}

function filesOf({ attachments }: ParsedMail): Shown['attachments'] {
  return attachments.map((file, index) => ({
    name: nameOf(file, index),
    type: file.contentType,
    sizeBytes: file.size,
    isInline: file.contentDisposition === 'inline' || file.related === true,
  }));
}

function nameOf({ filename }: Attachment, index: number): string {
  return filename || `attachment-${index + 1}`;
}

/** Saved and never shown: a file of a mail may be a page with scripts. */
async function attachment({ box, part }: Question): Promise<InboxAnswer> {
  const [id, index] = part.split('/attachments/').map(Number);
  const found = await box.read(id ?? -1);
  if (found === undefined) return notFound;
  const file = (await simpleParser(found.raw)).attachments[index ?? -1];
  if (file === undefined) return notFound;
  const fileName = nameOf(file, index ?? 0);
  return { type: 'application/octet-stream', body: file.content, fileName };
}

async function mailHtml({ box, part }: Question): Promise<InboxAnswer> {
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

function listJson({ box, query }: Question): InboxAnswer {
  const found = box.find(filterOf(query));
  const limit = numberOf(query.get('limit'), 100, limitMax);
  const offset = numberOf(query.get('offset'), 0, found.length);
  const mails = found.slice(offset, offset + limit).map(mailFields);
  return json({ total: found.length, mails });
}

async function mailJson({ box, part }: Question): Promise<InboxAnswer> {
  const found = await box.read(Number(part));
  if (found === undefined) return notFound;
  const parsed = await simpleParser(found.raw);
  const { text = '', html, headerLines } = parsed;
  const headers = headerLines.map(({ line }) => line);
  const attachments = filesOf(parsed).map(({ name, type, sizeBytes, isInline }) => ({
    name,
    type,
    size_bytes: sizeBytes,
    is_inline: isInline,
  }));
  const more = { html: html || '', text, headers, cc: addressesOf(parsed.cc), attachments };
  return json({ ...mailFields(found.mail), ...more });
}

function counts({ box, query }: Question): InboxAnswer {
  const found = box.find(filterOf(query));
  const recipients = new Set(found.flatMap(({ to }) => to));
  return json({ total: found.length, recipients: recipients.size });
}

/** Mails that arrived more than once for a recipient. */
function duplicates({ box, query }: Question): InboxAnswer {
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

async function clear({ box }: Question): Promise<InboxAnswer> {
  await box.clear();
  return json({ success: true });
}

function mailFields({ id, to, from, subject, messageId, receivedAt }: Mail): object {
  const address = to.join(', ');
  return { id, to: address, from, subject, message_id: messageId, received_at: receivedAt };
}

function filterOf(query: URLSearchParams): MailFilter {
  const [to, subject, since] = ['to', 'subject', 'since'].map((name) => query.get(name) ?? '');
  return { to, subject, since };
}
