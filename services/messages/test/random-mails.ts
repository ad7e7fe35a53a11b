import type { MailFile } from '../mime/files.ts';
import type { MailParts } from '../mime/mail.ts';
import type { Envelope, MailOptions, MailRecipient } from '../render/compose.ts';
import { compileMessage, type MailContent } from '../render/program.ts';
import { mailOf } from './mail-of.ts';

/*
 * Random mails of the real renderer, the same for the same seed: languages, files, long subjects,
 * empty parts, dots and white space at all places.
 */

/** Numbers from 0 to below 1 (mulberry32). */
function numbersOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const texts = [
  'Hello',
  'Grüße aus München',
  'ニュースレターの購読をお願いします',
  'Еженедельная рассылка новостей',
  'مرحبا بكم في النشرة الإخبارية',
  '🎉 Party 🎉',
  '.',
  '..',
  '.\n.\n..',
  'a line with blanks at its end   \nand a tab\t\n',
  '\n\n\n',
  '  two  spaces  ',
  `${'word '.repeat(60)}end`,
  'x'.repeat(300),
  '=?UTF-8?B?SGVsbG8=?=',
  'a=b; c="d"',
  '',
];
const link = '<a href="{{ unsubscribe_url }}">{{ contact.first_name }}</a>';
const headerNames = ['X-Note', 'X-Long', 'Precedence', 'Comments', 'X-A'];
const fileNames = [
  'invoice.pdf',
  'Rechnung für März.pdf',
  `${'long-'.repeat(30)}.txt`,
  '請求書.pdf',
];

/** A mail to the address, from the sender's domain. */
export function randomMail(seed: number, domain: string): Promise<MailParts> {
  const next = numbersOf(seed);
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(next() * items.length)] as Item;
  const many = (most: number) => Array.from({ length: Math.floor(next() * (most + 1)) });
  const text = (most: number) =>
    many(most)
      .map(() => pick(texts))
      .join(pick([' ', '\n', '']));
  const isList = next() < 0.5;
  const content: MailContent = {
    subject: text(3) + pick(['', ' {{ contact.first_name }}']),
    html: pick([' ', `<p>${text(20)}</p>${link}`, `${link}${text(40)}\n\n\n`]),
    mjml: '',
    text: pick(['', ' ', '\n\n', `${text(20)}{{ contact.first_name }}${text(2)}`]),
  };
  const envelope: Envelope = {
    from: { email: `news@${domain}`, name: pick(texts) },
    replyTo: next() < 0.5 ? `answers@${domain}` : '',
    ...(isList && { list: { id: 'weekly', name: pick(texts) } }),
    canBeLeft: isList,
    feedbackId: ['b1', 'w1', 'broadcast', 'postrider'],
    values: { workspace: { base_url: 'https://mail.example', website_url: '' } },
    utm: {},
  };
  const files = many(3).map((): MailFile => {
    const bytes = Array.from({ length: Math.floor(next() * 500) }, () => Math.floor(next() * 256));
    return {
      filename: pick(fileNames),
      contentType: pick(['application/pdf', 'text/plain; charset=utf-8']),
      contentId: next() < 0.3 ? `image${Math.floor(next() * 1e6)}@${domain}` : undefined,
      content: Buffer.from(bytes),
    };
  });
  const options: MailOptions = {
    ...{ fromName: pick(texts), subject: undefined, previewLine: undefined, replyTo: '' },
    cc: many(3).map((_, index) => `copy${index}@example.com`),
    listUnsubscribe: pick(['', 'https://acme.example/leave', `mailto:leave@${domain}`]),
    headers: headerNames
      .filter(() => next() < 0.2)
      .map((name) => [name, text(6).replaceAll('\n', ' ')]),
    files,
  };
  const recipient: MailRecipient = {
    messageId: crypto.randomUUID(),
    email: `p${seed}@example.com`,
    name: pick(texts),
    contact: { email: `p${seed}@example.com`, first_name: pick(texts) },
    urls: {
      unsubscribe: `https://mail.example/u/w1/${'token'.repeat(8)}`,
      preferences: 'https://mail.example/p/w1/dG9rZW4',
      confirm: 'https://mail.example/c/w1/dG9rZW4',
      webVersion: 'https://mail.example/w/w1/c2Vl',
    },
    trackingToken: 'dG9rZW4',
    ...(next() < 0.5 && { options }),
  };
  return mailOf(compileMessage(content, envelope, new Uint8Array(32)), recipient);
}
