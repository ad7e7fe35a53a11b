import { describe, expect, test } from '@jest/globals';
import type { MailFile } from '../../mime/files.ts';
import {
  listIdHeader,
  mailboxesHeader,
  mailboxHeader,
  ownHeader,
  textHeader,
  tokenHeader,
} from '../../mime/headers.ts';
import { finishedMail, type MailParts, staticText } from '../../mime/mail.ts';
import { givenFake, type KindName, kindNames } from '../../test/fake-provider/given.ts';
import { kinds, send } from '../../test/given-pool.ts';

const id = '5f2b1c1e-7d1b-4f8e-9a55-0d8c0f1e2a3b';
const [ann, bob, carl] = ['ann@example.com', 'bob@example.com', 'carl@example.com'] as const;

const file = (over: Partial<MailFile> = {}): MailFile => ({
  filename: 'receipt.txt',
  contentType: 'text/plain',
  contentId: undefined,
  content: Buffer.from('42 €'),
  ...over,
});

/** A newsletter as `compose.ts` makes it. */
const newsletter = (over: Partial<MailParts> = {}): MailParts => ({
  headers: [
    tokenHeader('Message-ID', `<${id}@sender.example>`),
    tokenHeader('Date', 'Thu, 26 Nov 2026 10:00:00 +0000'),
    mailboxHeader('From', { email: 'me@sender.example', name: 'Café, "Zoë" & Co' }),
    mailboxHeader('To', { email: ann, name: 'Ann <Example>' }),
    textHeader('Subject', 'Grüße\r\nBcc: eve@example.com'),
    tokenHeader('List-Unsubscribe', '<https://mail.example/u/w1/token>'),
    mailboxHeader('Reply-To', { email: 'answers@sender.example' }),
    tokenHeader('List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'),
    listIdHeader('Weekly', 'weekly.mail.example'),
    tokenHeader('Feedback-ID', 'b1:w1:marketing:postrider'),
    mailboxesHeader('Cc', [bob]),
    ownHeader('X-Order', '17'),
  ],
  text: [staticText('Hello '), '{{ Ann }}'],
  html: [staticText('<p>Hello '), 'Änn', staticText('</p>\n.\n')],
  files: [],
  ...over,
});

async function seen(name: KindName, mail: MailParts, over = {}) {
  const fake = await givenFake(name);
  const given = { to: ann, id, copies: [bob, carl], prepare: () => mail, ...over };
  const [outcome] = await send(fake.open(), [given]);
  return { outcome, mail: fake.received.get(ann)?.[0] };
}

describe.each(kindNames)('%s', (name) => {
  test('sends a finished mail as it is, or refuses it', async () => {
    const head = [
      'From: me@sender.example',
      'Subject: Hi',
      'X-Order: 17',
      'Content-Type: text/plain; charset=utf-8',
    ];
    const finished = Buffer.from(`${head.join('\r\n')}\r\n\r\n.\r\nGrüße\r\n`);
    const { outcome, mail } = await seen(name, finishedMail(finished), { copies: [] });
    if (!['ses', 'mailgun', 'sparkpost'].includes(name)) {
      expect(outcome).toEqual({ kind: 'failed', info: 'the provider takes no finished mails' });
      return;
    }
    expect(outcome).toMatchObject({ kind: 'accepted' });
    expect(mail).toMatchObject({
      ...{ recipients: [ann], subject: 'Hi', from: 'me@sender.example' },
      ...{ text: expect.stringContaining('.\nGrüße'), headers: { 'x-order': '17' } },
    });
  });

  test('sends a newsletter with its lists, its sender and its copies intact', async () => {
    const { outcome, mail } = await seen(name, newsletter());
    expect(outcome).toMatchObject({ kind: 'accepted' });
    const providerId = name === 'brevo' ? '<mail-1>' : 'mail-1';
    expect(outcome).toMatchObject({ providerId });
    expect(mail).toMatchObject({
      id,
      recipients: [ann, bob, carl],
      from: 'me@sender.example',
      subject: 'Grüße Bcc: eve@example.com',
      text: expect.stringContaining('Hello {{ Ann }}'),
      html: expect.stringContaining('<p>Hello Änn</p>\n.\n'),
      headers: {
        'list-unsubscribe': '<https://mail.example/u/w1/token>',
        'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
        'feedback-id': 'b1:w1:marketing:postrider',
        'reply-to': 'answers@sender.example',
        'x-order': '17',
      },
    });
    // Mailjet refuses a mail with List-ID: it writes one itself.
    const listId = name === 'mailjet' ? undefined : 'Weekly <weekly.mail.example>';
    expect(mail?.headers['list-id']).toBe(listId);
    expect(Object.keys(mail?.headers ?? {})).not.toContain('bcc');
  });

  test('sends files, and those that the HTML shows', async () => {
    const files = [
      file(),
      file({ filename: 'logo.png', contentType: 'image/png', contentId: 'logo@x' }),
    ];
    const { outcome, mail } = await seen(
      name,
      newsletter({ files: name === 'brevo' ? files.slice(0, 1) : files }),
    );
    expect(outcome).toMatchObject({ kind: 'accepted' });
    expect(mail?.files).toContainEqual(
      expect.objectContaining({ name: 'receipt.txt', text: '42 €', contentId: '' }),
    );
    if (name === 'brevo') return;
    expect(mail?.files).toContainEqual(
      expect.objectContaining({ name: 'logo.png', type: 'image/png', contentId: 'logo@x' }),
    );
  });

  test('sends a mail of plain text as plain text', async () => {
    const { outcome, mail } = await seen(name, newsletter({ html: undefined }));
    expect(outcome).toMatchObject({ kind: 'accepted' });
    expect(mail?.text).toContain(name === 'brevo' ? '' : 'Hello {{ Ann }}');
    // Brevo takes no mail without HTML.
    expect(mail?.html ?? '').toBe(name === 'brevo' ? '<pre>Hello {{ Ann }}</pre>' : '');
  });

  test('sends no mail to an address with other characters than ASCII before its @', async () => {
    const { outcome, mail } = await seen(name, newsletter(), { to: 'änn@example.com' });
    expect(outcome).toEqual({
      kind: 'failed',
      info: 'an address has characters before its @ that the provider cannot take',
    });
    expect(mail).toBeUndefined();
  });
});

// Of its largest mail, with files in base64; the others take what a mail may have here at most.
test.each<[KindName, number]>([
  ['postmark', 10],
  ['mailjet', 15],
  ['brevo', 20],
  ['sparkpost', 20],
  ['sendgrid', 30],
  ['resend', 40],
])('%s sends no mail above %i MB', async (name, mostMb) => {
  const large = (mb: number) =>
    newsletter({ files: [file({ content: Buffer.alloc((mb * 1_000_000 * 3) / 4) })] });
  const { outcome } = await seen(name, large(mostMb + 0.1));
  // Raw mails have lines, which add to their size, and end at 25 MiB.
  expect(outcome).toEqual({
    kind: 'failed',
    info: `the mail is larger than the ${mostMb} MB that the provider takes`,
  });
  expect((await seen(name, large(mostMb * 0.95))).outcome).toMatchObject({ kind: 'accepted' });
});

test.each<[KindName]>([['ses'], ['postmark'], ['resend']])(
  '%s sends no mail to more than 50 recipients',
  async (name) => {
    const copies = (count: number) =>
      Array.from({ length: count }, (_, index) => `copy${index}@example.com`);
    const { outcome } = await seen(name, newsletter(), { copies: copies(50) });
    expect(kinds([outcome!])).toEqual(['failed']);
    const { mail } = await seen(name, newsletter(), { copies: copies(49) });
    expect(mail?.recipients).toHaveLength(50);
  },
);

test('postmark sends mail that can be left by the stream for broadcasts, and keeps Message-ID', async () => {
  const { mail } = await seen('postmark', newsletter());
  expect(mail).toMatchObject({
    stream: 'broadcast',
    headers: { 'message-id': `<${id}@sender.example>`, 'x-pm-keepid': 'true' },
  });
  const headers = newsletter().headers.filter((field) => !field.name.startsWith('List-'));
  expect((await seen('postmark', newsletter({ headers }))).mail?.stream).toBe('outbound');
});

test('brevo gets header fields in ASCII, and a list by its id where its name is not', async () => {
  const others = newsletter().headers.filter(({ name }) => name !== 'List-ID');
  const listed = [...others, listIdHeader('Wöchentlich', 'weekly.mail.example')];
  const { mail } = await seen('brevo', newsletter({ headers: listed }));
  expect(mail?.headers['list-id']).toBe('<weekly.mail.example>');
  const odd = [...others, ownHeader('X-Name', 'Änn')];
  expect((await seen('brevo', newsletter({ headers: odd }))).outcome).toEqual({
    kind: 'failed',
    info: 'Brevo takes X-Name in ASCII alone',
  });
});

test('brevo sends no inline files, which it would show as others', async () => {
  const files = [file({ contentId: 'logo@x' })];
  expect((await seen('brevo', newsletter({ files }))).outcome).toEqual({
    kind: 'failed',
    info: 'Brevo takes no inline files',
  });
});
