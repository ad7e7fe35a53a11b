import { expect, test } from '@jest/globals';
import { dsnOf, feedbackOf, plainMail } from '../../test/given-returned-mail.ts';
import { mailMaxBytes } from './parse.ts';
import { readStatements } from './statements.ts';

const ann = 'ann@example.com';
const daemon = 'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>';

const statementsOf = async (mail: Buffer | string) =>
  (await readStatements(Buffer.from(mail))).statements;
/** The meaning of each statement of a mail. */
const meaningOf = async (mail: Buffer | string) =>
  (await statementsOf(mail)).map((each) => `${each.type ?? '-'} ${each.class ?? '-'}`);

test.each<[string, string[], string, string]>([
  [
    'Exim',
    [
      daemon,
      `X-Failed-Recipients: ${ann}`,
      'Subject: Mail delivery failed: returning message to sender',
    ],
    `A message that you sent could not be delivered.\r\n\r\n  ${ann}\r\n    host mx.example.com [192.0.2.1]\r\n    SMTP error from remote mail server after RCPT TO:<${ann}>:\r\n    550 5.1.1 <${ann}>: User unknown\r\n\r\n------ This is a copy of the message ------\r\n552 mailbox full`,
    'bounce hard',
  ],
  [
    'Exim, of a full mailbox',
    [
      daemon,
      `X-Failed-Recipients: ${ann}`,
      'Subject: Mail delivery failed: returning message to sender',
    ],
    `  ${ann}\r\n    mailbox is full (MTA-imposed quota exceeded while writing to file)`,
    'bounce soft',
  ],
  [
    'Exim, of a delay',
    [daemon, 'Subject: Warning: message 1AbCdE delayed 24 hours'],
    'This message has not been delivered. No action is required on your part.',
    '- -',
  ],
  [
    'qmail',
    ['From: MAILER-DAEMON@mx.example.net', 'Subject: failure notice'],
    `Hi. This is the qmail-send program.\r\n\r\n<${ann}>:\r\n192.0.2.1 does not like recipient.\r\nRemote host said: 550 5.1.1 no such user\r\nGiving up on 192.0.2.1.\r\n\r\n--- Below this line is a copy of the message.\r\n\r\nSubject: x`,
    'bounce hard',
  ],
  [
    'Exchange',
    ['From: postmaster@example.com', 'Subject: Undeliverable: Hello'],
    `Delivery has failed to these recipients:\r\n\r\n${ann}\r\nThe e-mail address was not found.\r\n\r\n#550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found ##`,
    'bounce hard',
  ],
  [
    'sendmail of old',
    [daemon, 'Subject: Returned mail: User unknown'],
    'The original message was received at Thu, 1 Jan 1998\r\n\r\n----- The following addresses had permanent delivery errors -----\r\n',
    'bounce hard',
  ],
  [
    'a server that refuses the sender',
    [daemon, 'Subject: Undelivered Mail Returned to Sender'],
    `<${ann}>: host mx said: 550 5.7.1 Message blocked by policy`,
    'bounce sender',
  ],
  [
    'a server that says nothing that is known',
    [daemon, 'Subject: Undelivered Mail Returned to Sender'],
    'Something went wrong.',
    'bounce unknown',
  ],
])('a bounce in the words of %s', async (_, headers, text, meaning) => {
  expect(await meaningOf(plainMail(headers, text))).toEqual([meaning]);
});

test.each([
  ['Re: Your delivery status report', []],
  ['Out of office: Your parcel was not delivered', []],
  ['Your delivery status report', ['Auto-Submitted: auto-replied']],
  ['[External] RE: delivery failed', []],
])('a reply of a person with the subject %s is no bounce', async (subject, headers) => {
  const text = 'I am away.\r\n\r\n> 550 5.1.1 user unknown';
  const mail = plainMail(['From: Ann <ann@example.com>', `Subject: ${subject}`, ...headers], text);
  expect((await meaningOf(mail))[0]).toMatch(/^- /);
});

test('fields of a notification are read from a mail whose parts cannot be found', async () => {
  const broken = dsnOf(ann)
    .toString()
    .replace(/boundary="[^"]*"/, 'boundary="other"');
  expect(await statementsOf(broken)).toMatchObject([
    { type: 'bounce', class: 'hard', recipients: [ann] },
  ]);
});

test('each recipient of a notification has a statement of its own', async () => {
  const more = ['', 'Final-Recipient: rfc822; bob@example.com', 'Action: delayed', 'Status: 4.4.1'];
  expect(await statementsOf(dsnOf(ann, { more }))).toMatchObject([
    { type: 'bounce', recipients: [ann] },
    { type: undefined, recipients: ['bob@example.com'] },
  ]);
});

test('a notification inside the mail that is returned says nothing', async () => {
  const inner = dsnOf(ann).toString();
  const text = `--b\r\nContent-Type: text/plain\r\n\r\nsee below\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n--b--`;
  const headers = ['From: bob@example.com', 'Content-Type: multipart/mixed; boundary=b'];
  expect(await meaningOf(plainMail(headers, text))).toEqual(['- -']);
});

test('feedback that names its recipients is about each of them', async () => {
  const fields = [`Original-Rcpt-To: <${ann}>`, 'Original-Rcpt-To: bob@example.com'];
  expect(await statementsOf(feedbackOf('abuse', fields))).toMatchObject([
    { type: 'complaint', class: 'complaint', recipients: [ann] },
    { type: 'complaint', class: 'complaint', recipients: ['bob@example.com'] },
  ]);
});

test.each([
  ['auto-submitted', 'Auto-Submitted: auto-replied', 'auto'],
  ['auto-submitted: no', 'Auto-Submitted: no', '-'],
  ['x-autoreply', 'X-Autoreply: yes', 'auto'],
  ['precedence', 'Precedence: auto_reply', 'auto'],
  ['precedence of lists', 'Precedence: list', '-'],
])('a mail with %s is of class %3$s', async (_, header, named) => {
  const mail = plainMail(['From: ann@example.com', 'Subject: Away', header], 'user unknown');
  expect(await meaningOf(mail)).toEqual([`- ${named}`]);
});

test('an address in the escaped form of RFC 3461 is known by both forms', async () => {
  const [statement] = await statementsOf(
    dsnOf('ann@example.com').toString().replaceAll('ann@', 'ann+2Bnews@'),
  );
  expect(statement?.recipients).toContain('ann+news@example.com');
});

test('the date of a mail is its time, and one that is none is not', async () => {
  const dated = (date: string) => readStatements(Buffer.from(`Date: ${date}\r\n\r\nx`));
  expect((await dated('Thu, 26 Nov 2026 10:00:00 +0100')).at).toEqual(
    new Date('2026-11-26T09:00:00Z'),
  );
  for (const wrong of [
    'yesterday',
    '',
    '1 Jan 12026 00:00:00 +0000',
    '1 Jan 1960 00:00:00 +0000',
  ]) {
    expect((await dated(wrong)).at).toBeUndefined();
  }
});

const fill = (text: string) =>
  text.repeat(Math.ceil(mailMaxBytes / text.length)).slice(0, mailMaxBytes);
const inStatus = (fields: string) =>
  `${daemon}\r\nContent-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n${fields}`;
const inText = (text: string) => `${daemon}\r\nSubject: failure notice\r\n\r\n${text}`;
const levels = Array.from(
  { length: 10_000 },
  (_, at) => `Content-Type: multipart/mixed; boundary=a${at}\n\n--a${at}\n`,
);

test.each<[string, string]>([
  ['10,000 levels of parts', levels.join('')],
  ['levels of mails', fill('Content-Type: message/rfc822\n\n')],
  ['parts without content', `Content-Type: multipart/mixed; boundary=a\n\n${fill('--a\n')}`],
  ['headers', fill('A: b\n')],
  ['a header of many words', `Subject: ${fill('=?utf-8?q?=41?= ')}`],
  ['a header of many lines', `Subject: x${fill('\n ')}`],
  ['groups of addresses', `To: ${fill('a:')}`],
  ['parameters', `Content-Type: ${fill('a;b=')}`],
  ['tags that do not end', `Content-Type: text/html\n\n${fill('<')}`],
  ['empty lines', inText(fill('\n '))],
  ['lines of a line', inText(fill('-\n'))],
  ['lines of one line', inText(fill('-'))],
  ['codes', inText(fill('5.4.1 '))],
  ['words of a bounce', inText(fill('user mailbox message size '))],
  ['failed recipients', `X-Failed-Recipients: ${fill('a@b.example,')}`],
  ['recipients in words', inText(fill('<a@b.example>:\n'))],
  ['recipients of a notification', inStatus(fill('Action: failed\n\n'))],
  ['an endless recipient', inStatus(`Final-Recipient: rfc822; ${fill('a@')}`)],
  ['an endless field', inStatus(`Action: failed\nDiagnostic-Code: x${fill('\n a')}`)],
  ['zeros', '\0'.repeat(mailMaxBytes)],
])('a mail full of %s is read in time, and is no hard bounce', async (_, mail) => {
  const before = process.cpuUsage();
  const statements = await statementsOf(mail);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
  expect(statements.length).toBeLessThanOrEqual(100);
  expect(statements.every((statement) => statement.class !== 'hard')).toBe(true);
});
