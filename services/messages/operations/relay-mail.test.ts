import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeAll, expect, test } from '@jest/globals';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification } from '../test/given-notification.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);
// On a busy machine a message may not be begun within its five seconds.
beforeAll(() => given.context.transactional.queue.start());

let count = 0;
const address = () => {
  count += 1;
  return `relayed-${count}@example.com`;
};
const from = 'From: News <news@sender.example>';
const dated = [
  'Date: Fri, 27 Nov 2026 00:00:00 +0000',
  'Message-ID: <1@origin.example>',
  'Subject: Hi',
];
const mailOf = (head: readonly string[], body = 'Hello\r\n') =>
  Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1');
const plain = mailOf([from, ...dated]);
const relay = (mail: Buffer, ...recipients: string[]) =>
  given.relay.relayMail({ workspaceId, recipients, mail });
const relayOne = async (mail: Buffer, email: string) => {
  const [id = ''] = (await relay(mail, email)).messageIds;
  return id;
};
const read = async (id: string) => (await given.messages.getMessage({ workspaceId, id })).message;
const untilStatus = (id: string, status: string) =>
  until(`the message is ${status}`, async () => (await read(id))?.status === status, {
    withinMs: 15_000,
  });

/** The mail that the server got, without the dots that SMTP adds. */
async function arrived(email: string): Promise<string> {
  await until('the mail arrives', async () => given.sink.bodies(email).length > 0, {
    withinMs: 15_000,
  });
  const [body = ''] = given.sink.bodies(email);
  // Replacing a million dots takes four times as long.
  return `\r\n${body}`.split('\r\n..').join('\r\n.').slice(2);
}

test('a mail goes out as it came, byte for byte', async () => {
  const body = '.\r\n..two\r\n.x\r\n\r\n=20 \t\r\n\u00fc\u00df\r\nlast\r\n\r\n';
  const odd = ['X-Odd :  spaced \t', from, 'To:  "A  B" <a@b.example>,\r\n\t<c@d.example>'];
  const mail = mailOf([...odd, ...dated], body);
  const email = address();
  const id = await relayOne(mail, email);
  expect(await arrived(email)).toBe(mail.toString('latin1'));
  await untilStatus(id, 'sent');
  expect(await read(id)).toMatchObject({
    ...{ contactEmail: email, templateId: '' },
    rawContent: { subject: 'Hi', fromEmail: 'news@sender.example', fromName: 'News' },
  });
});

test('a mail that is retried is the same', async () => {
  const mail = mailOf([from, ...dated], '.\r\n\u00fc\r\n');
  const email = address();
  const id = await relayOne(mail, email);
  await untilStatus(id, 'sent');
  const sql = (text: string) => query(given.store.fork(), text, [id]);
  await sql(
    `update messages set status = 'failed', failed_at = now(), sent_at = null where id = $1`,
  );
  given.sink.reset();
  await given.messages.retryMessage({ workspaceId, id });
  expect(await arrived(email)).toBe(mail.toString('latin1'));
});

test('each recipient has a message of its own, and one that stands there twice has one', async () => {
  const [one, two] = [address(), address()];
  const { messageIds } = await relay(plain, one, two, one.toUpperCase());
  expect(messageIds).toHaveLength(2);
  expect(await Promise.all(messageIds.map(async (id) => (await read(id))?.contactEmail))).toEqual([
    one,
    two,
  ]);
  expect([await arrived(one), await arrived(two)]).toEqual([`${plain}`, `${plain}`]);
});

test('if one recipient cannot be taken, none is', async () => {
  const [one, two] = [address(), address()];
  given.world.skipReasons.set(two, 'is no contact');
  await expect(relay(plain, one, two)).rejects.toMatchObject({ code: Code.InvalidArgument });
  const { messages } = await given.messages.listMessages({ workspaceId, contactEmail: one });
  expect(messages).toEqual([]);
});

test('fields of ours and of Postmark are read, and do not go out', async () => {
  const notification = await givenNotification(given);
  const control = [
    'Postrider-Tag: one, two',
    'X-PM-Tag: Welcome mail!',
    'Postrider-Metadata-Order: 1042',
    'X-PM-Metadata-Colour: =?utf-8?q?bl=C3=A4u?=',
    'X-PM-Metadata-Odd: =?utf-8?q?a=00=0D=0Ab?=',
    'X-PM-Message-Stream: outbound',
    `Postrider-Notification: ${notification}`,
  ];
  const email = address();
  const id = await relayOne(mailOf([...control, from, ...dated]), email);
  expect(await arrived(email)).toBe(`${plain}`);
  const message = await read(id);
  expect(message).toMatchObject({
    ...{ tags: ['Welcome-mail-', 'one', 'two'], transactionalNotificationId: notification },
    messageData: { metadata: { Order: '1042', Colour: 'bl\u00e4u', Odd: 'a b' } },
  });
});

test('Bcc, Return-Path and what steers a provider do not go out', async () => {
  const others = [
    'Bcc: eve@example.com,\r\n mallory@example.com',
    'Return-Path: <x@y.example>',
    'X-SMTPAPI: {"to":["eve@example.com"]}',
    'x-mailgun-variables: {}',
    'X-SES-CONFIGURATION-SET: other',
    'Resent-Bcc: eve@example.com',
    'X-Virtual-MTA: other',
    'X-MT-Category: other',
    'X-xsMailingId: other',
  ];
  const email = address();
  await relay(mailOf([...others, from, ...dated]), email);
  expect(await arrived(email)).toBe(`${plain}`);
});

test('Date and Message-ID are added to a mail without them, at the end of its header', async () => {
  const email = address();
  await relay(mailOf([from, 'Subject: Hi']), email);
  expect(await arrived(email)).toMatch(
    /^From: [^\r]+\r\nSubject: Hi\r\nDate: \w{3}, [^\r]+ \+0000\r\nMessage-ID: <[0-9a-f-]{36}@sender\.example>\r\n\r\nHello\r\n$/,
  );
  const headOnly = address();
  await relay(Buffer.from(`${[from, ...dated].join('\r\n')}`), headOnly);
  expect(await arrived(headOnly)).toBe(`${[from, ...dated].join('\r\n')}\r\n\r\n`);
});

test('a mail with a key goes to each recipient once, whatever changed on its way', async () => {
  const [one, two] = [address(), address()];
  const keyed = (hop: string) =>
    mailOf([`Received: by ${hop}`, 'Postrider-Idempotency-Key: order-1042', from, ...dated]);
  const first = await relay(keyed('a'), one);
  const again = await relay(keyed('b'), one, two);
  expect(again.messageIds[0]).toBe(first.messageIds[0]);
  expect(await relay(keyed('c'), two)).toMatchObject({ messageIds: [again.messageIds[1]] });
  await arrived(two);
  expect(given.sink.received.get(one)?.count).toBe(1);
});

test('a recipient that bounced is recorded as failed, and gets nothing', async () => {
  const email = address();
  await query(given.store.fork(), `insert into suppressions values ('w1', $1, 'bounced', now())`, [
    email,
  ]);
  const id = await relayOne(plain, email);
  expect(await read(id)).toMatchObject({ status: 'failed', statusInfo: 'bounced' });
  expect(given.sink.bodies(email)).toEqual([]);
});

test.each([
  ['no sender of the workspace', 'from', ['From: eve@sender.example'], 'hi'],
  ['no From', 'from', dated, 'hi'],
  ['two From', 'from', [from, 'from: eve@example.com'], 'hi'],
  ['two mailboxes', 'from', [`${from}, eve@example.com`], 'hi'],
  ['two addresses in one mailbox', 'from', ['From: <news@sender.example> <e@x.example>'], 'hi'],
  ['a comment in its From', 'from', ['From: (<e@x.example>) <news@sender.example>'], 'hi'],
  ['a domain of wide letters', 'from', ['From: <news@\u00ef\u00bd\u0093ender.example>'], 'hi'],
  ['another Sender', 'from', [from, 'Sender: eve@example.com'], 'hi'],
  ['a NUL', 'mail', [from], 'a\0b\r\n'],
  ['a bare LF', 'mail', [from], 'a\n.\nMAIL FROM:<x>\r\n'],
  ['a bare CR', 'mail', [from], 'a\r.\rb\r\n'],
  ['a bare CR at its end', 'mail', [from], 'a\r'],
  ['a line in its header that is no field', 'mail', [from, 'hello'], 'hi'],
  ['1,001 fields', 'mail', [from, ...Array.from({ length: 1_000 }, () => 'X-A: 1')], 'hi'],
  ['a field of 300 KB', 'mail', [from, `X-A: ${'a'.repeat(300_000)}`], 'hi'],
  ['101 hops', 'mail', [from, ...Array.from({ length: 101 }, () => 'Received: by x')], 'hi'],
  ['a field of ours that is none', 'mail', [from, 'Postrider-Tga: x'], 'hi'],
  ['a tag that is none', 'mail', [from, 'Postrider-Tag: \u00fc'], 'hi'],
  ['eleven tags', 'mail', [from, 'Postrider-Tag: 1 2 3 4 5 6 7 8 9 10 11'], 'hi'],
  ['metadata of 17 KB', 'mail', [from, `X-PM-Metadata-A: ${'a'.repeat(17_000)}`], 'hi'],
])('a mail with %s is refused by a 400 that names %s', async (_, field, head, body) => {
  const refused = relay(mailOf(head, body), address());
  await expect(refused).rejects.toMatchObject({ code: Code.InvalidArgument });
  const error = ConnectError.from(await refused.catch((reason: unknown) => reason));
  const [detail] = error.findDetails(BadRequestSchema);
  expect(detail?.fieldViolations[0]?.field).toMatch(new RegExp(`^(?:mail\\.content\\.)?${field}`));
});

test('a wrong recipient, an unknown notification and a mail for too many are refused', async () => {
  await expect(relay(plain, address(), 'nobody')).rejects.toMatchObject({
    rawMessage: 'a recipient must be an email address',
  });
  const unknown = mailOf(['Postrider-Notification: nothing', from, ...dated]);
  await expect(relay(unknown, address())).rejects.toMatchObject({ code: Code.NotFound });
  const large = mailOf([from, ...dated], `${'a'.repeat(78)}\r\n`.repeat(25_000));
  const many = Array.from({ length: 30 }, address);
  await expect(relay(large, ...many)).rejects.toMatchObject({
    rawMessage: 'the mail is too large for so many recipients',
  });
});

test('a mail of 26 MB of dots goes out, and a larger one is refused', async () => {
  const email = address();
  const head = [from, ...dated];
  const fits = mailOf(head, '.\r\n'.repeat(6_499_000));
  await relay(fits, email);
  const body = await arrived(email);
  expect(body.length).toBe(fits.length);
  await expect(relay(mailOf(head, '.\r\n'.repeat(6_501_000)), email)).rejects.toMatchObject({
    rawMessage: 'the mail is too large',
  });
}, 60_000);

test('a mail of 1,000 parts within each other is shown without its content', async () => {
  given.world.contentDays = 30;
  const fresh = given.newProcess();
  const deep = Array.from(
    { length: 1_000 },
    (_, at) => `--${at}\r\nContent-Type: multipart/mixed; boundary=${at + 1}\r\n\r\n`,
  );
  const type = 'Content-Type: multipart/mixed; boundary=0';
  const email = address();
  const mail = mailOf([from, ...dated, type], deep.join(''));
  const { messageIds } = await fresh.relay.relayMail({ workspaceId, recipients: [email], mail });
  await arrived(email);
  const [id = ''] = messageIds;
  const kept = async () => {
    const rows = await query(
      given.store.fork(),
      'select 1 from message_contents where message_id = $1',
      [id],
    );
    return rows.length > 0;
  };
  await until('its content is kept', kept);
  const answer = await fresh.messages.getMessage({ workspaceId, id });
  expect(answer.message?.status).toBe('sent');
  expect(answer.content).toBeUndefined();
  await fresh.context.transactional.stop();
});

test('the kept copy of a mail for several names no other of its recipients', async () => {
  given.world.contentDays = 30;
  const fresh = given.newProcess();
  const [one, two, three] = [address(), address(), address()];
  const to = [`To: "One" <${one.toUpperCase()}>,\r\n Two <${two}>`, `cc: ${three}`];
  const mail = mailOf([...to, from, ...dated]);
  const recipients = [one, two, three];
  const { messageIds } = await fresh.relay.relayMail({ workspaceId, recipients, mail });
  expect(await arrived(one)).toBe(`${mail}`);
  const contentOf = async (id: string) =>
    (await fresh.messages.getMessage({ workspaceId, id })).content;
  await until('its contents are kept', async () => {
    const contents = await Promise.all(messageIds.map(contentOf));
    return contents.every((content) => content !== undefined);
  });
  const [first, second, third] = await Promise.all(messageIds.map(contentOf));
  const named = (content: typeof first) =>
    content?.headers.flatMap(({ name, value }) => (/^(?:to|cc)$/i.test(name) ? [value] : []));
  expect([named(first), named(second), named(third)]).toEqual([[one], [two], [three]]);
  expect(first).toMatchObject({ subject: 'Hi', text: 'Hello\n' });
  await fresh.context.transactional.stop();
  await fresh.context.reader.close();
}, 30_000);

test('the kept copy of a mail that comes for each recipient by itself names no other', async () => {
  given.world.contentDays = 30;
  const fresh = given.newProcess();
  const [one, two] = [address(), address()];
  const ids: string[] = [];
  for (const [to, email] of [
    [`To: One <${one}>, other-${two}`, two],
    [`To: One <${one}>`, one],
  ] as const) {
    const mail = mailOf([to, from, ...dated]);
    const { messageIds } = await fresh.relay.relayMail({ workspaceId, recipients: [email], mail });
    ids.push(...messageIds);
  }
  const toOf = async (id: string) => {
    const { content } = await fresh.messages.getMessage({ workspaceId, id });
    return content?.headers.flatMap(({ name, value }) => (name === 'To' ? [value] : []));
  };
  await until('its contents are kept', async () =>
    (await Promise.all(ids.map(toOf))).every((to) => to !== undefined),
  );
  expect(await Promise.all(ids.map(toOf))).toEqual([[two], [`One <${one}>`]]);
  await fresh.context.transactional.stop();
  await fresh.context.reader.close();
}, 30_000);

test('while a mail is read that takes long, others are shown', async () => {
  given.world.contentDays = 30;
  const fresh = given.newProcess();
  const type = 'Content-Type: multipart/mixed; boundary=0';
  const ids: string[] = [];
  // The first is of the usual kind, and is read outside of the thread.
  const slow = mailOf([from, ...dated, type], '--0\r\n\r\n\r\n'.repeat(30_000));
  for (const mail of [plain, slow]) {
    const email = address();
    ids.push(
      ...(await fresh.relay.relayMail({ workspaceId, recipients: [email], mail })).messageIds,
    );
    await arrived(email);
  }
  await until('their contents are kept', async () => {
    const sql = 'select 1 from message_contents where message_id = any($1::uuid[])';
    return (await query(given.store.fork(), sql, [ids])).length === 2;
  });
  const [short = '', long = ''] = ids;
  let isRead = false;
  const reading = fresh.messages.getMessage({ workspaceId, id: long }).finally(() => {
    isRead = true;
  });
  let shown = 0;
  for (; !isRead; shown += 1) {
    await fresh.messages.getMessage({ workspaceId, id: short });
    await sleep(5);
  }
  expect((await reading).message?.status).toBe('sent');
  expect(shown).toBeGreaterThan(20);
  await fresh.context.transactional.stop();
  await fresh.context.reader.close();
}, 60_000);

test.each([
  [
    'mailgun',
    25_000_001,
    'the mail is too large for an integration of kind mailgun: at most 25 MB',
  ],
  [
    'sparkpost',
    20_000_001,
    'the mail is too large for an integration of kind sparkpost: at most 20 MB',
  ],
] as const)(
  'a mail that %s takes at no size of %i bytes is refused',
  async (kind, bytes, rawMessage) => {
    given.world.kind = kind;
    given.world.settings = {
      mailgun: { apiKey: 'k', domain: 'sender.example', region: '' } as never,
      sparkpost: { apiKey: 'k', region: '', sandboxMode: false } as never,
    };
    const fresh = given.newProcess();
    const start = mailOf([from, ...dated], '');
    const mail = Buffer.concat([
      start,
      Buffer.alloc(bytes - start.length - 2, 'a'),
      Buffer.from('\r\n'),
    ]);
    const email = address();
    const refused = fresh.relay.relayMail({ workspaceId, recipients: [email], mail });
    await expect(refused).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage });
    const { messages } = await given.messages.listMessages({ workspaceId, contactEmail: email });
    expect(messages).toEqual([]);
    await fresh.context.transactional.stop();
  },
);

test('a mail that is no UTF-8 is refused where the integration takes nothing else', async () => {
  given.world.kind = 'sparkpost';
  given.world.settings = { sparkpost: { apiKey: 'k', region: '', sandboxMode: false } as never };
  const fresh = given.newProcess();
  const mail = mailOf([from, ...dated], '\u00fc\r\n');
  const request = { workspaceId, recipients: [address()], mail };
  await expect(fresh.relay.relayMail(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'an integration of kind sparkpost takes mails in UTF-8 alone',
  });
  await fresh.context.transactional.stop();
});

test('an integration that takes no finished mails is refused', async () => {
  given.world.kind = 'postmark';
  given.world.settings = { postmark: { serverToken: 't', messageStream: '' } as never };
  const fresh = given.newProcess();
  const request = { workspaceId, recipients: [address()], mail: plain };
  await expect(fresh.relay.relayMail(request)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'an integration of kind postmark takes no finished mails',
  });
  await fresh.context.transactional.stop();
});

const linked = mailOf(
  [from, ...dated, 'MIME-Version: 1.0', 'Content-Type: text/html; charset=utf-8'],
  '<body><a href="https://a.example/">a</a></body>\r\n',
);
const asking = (...fields: string[]) =>
  Buffer.concat([Buffer.from(fields.map((field) => `${field}\r\n`).join('')), linked]);
/** Sends a mail, and gives what stands in it. */
async function counted(mail: Buffer) {
  const email = address();
  const id = await relayOne(mail, email);
  const body = (await arrived(email)).replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const [, open = ''] = /src="https:\/\/mail\.example\/t\/w1\/([\w-]{43})"/.exec(body) ?? [];
  const [, click = ''] = /href="https:\/\/mail\.example\/r\/w1\/([\w-]{43})\/0\//.exec(body) ?? [];
  await untilStatus(id, 'sent');
  return { id, body, open, click, info: (await read(id))?.statusInfo };
}

test.each([
  ['Postrider-Track-Opens: true', true, false],
  ['postrider-track-links: TRUE', false, true],
  ['X-PM-TrackOpens: true\r\nX-PM-TrackLinks: HtmlAndText', true, true],
  ['X-PM-TrackOpens: false\r\nX-PM-TrackLinks: HtmlOnly', false, true],
  ['X-PM-TrackOpens: false\r\nX-PM-TrackLinks: None', false, false],
  ['X-PM-TrackOpens: perhaps', false, false],
  ['X-PM-TrackLinks: TextOnly', false, false],
])('a mail with %j is counted as it asks', async (fields, opens, clicks) => {
  given.world.isTracked = true;
  given.context.plans.refresh(workspaceId);
  const { open, click, body } = await counted(asking(fields));
  expect([open !== '', click !== '']).toEqual([opens, clicks]);
  expect(body).not.toMatch(/track-|x-pm/i);
  if (!opens && !clicks) expect(body).toBe(`${linked}`);
});

test('a notification decides where no field does, but not about a signed mail', async () => {
  given.world.isTracked = true;
  given.context.plans.refresh(workspaceId);
  const notification = `Postrider-Notification: ${await givenNotification(given)}`;
  const { open, click } = await counted(asking(notification));
  expect([open, click]).toEqual([click, open]);
  expect(open).not.toBe('');
  const signed = 'DKIM-Signature: v=1; d=sender.example; b=x';
  const left = await counted(asking(notification, signed));
  expect(left.body).toBe(`${signed}\r\n${linked}`);
  const asked = await counted(asking(notification, signed, 'Postrider-Track-Opens: true'));
  expect(asked.open).not.toBe('');
});

test('a mail is not counted in a workspace that counts nothing', async () => {
  given.context.plans.refresh(workspaceId);
  const { body } = await counted(asking('Postrider-Track-Opens: true'));
  expect(body).toBe(`${linked}`);
});

test('a mail that cannot be changed goes out as it came, and its record says why', async () => {
  given.world.isTracked = true;
  given.context.plans.refresh(workspaceId);
  const fields = ['Content-Type: multipart/signed; boundary=b', 'Postrider-Track-Links: true'];
  const email = address();
  const id = await relayOne(mailOf([...fields, from, ...dated], '--b\r\n\r\n--b--\r\n'), email);
  expect(await arrived(email)).toContain('\r\n\r\n--b\r\n\r\n--b--\r\n');
  await untilStatus(id, 'sent');
  expect((await read(id))?.statusInfo).toMatch(
    /^sent without tracking: it is signed or encrypted; 250/,
  );
});

test('a large mail is counted in the thread, and one that takes too long goes out as it came', async () => {
  given.world.isTracked = true;
  given.context.plans.refresh(workspaceId);
  const file = `--b\r\nContent-Type: text/plain\r\n\r\n${'x\r\n'.repeat(1_000_000)}\r\n`;
  const html =
    '--b\r\nContent-Type: text/html\r\n\r\n<a href="https://a.example/">a</a>\r\n--b--\r\n';
  const head = ['Content-Type: multipart/mixed; boundary=b', 'Postrider-Track-Links: true', from];
  const large = await counted(mailOf([...head, ...dated], file + html));
  expect(large.click).not.toBe('');
  expect(large.body).toContain(file);
  const track = given.context.thread.track.bind(given.context.thread);
  given.context.thread.track = () => Promise.reject(new Error('killed'));
  const slow = await counted(mailOf([...head, ...dated], file + html));
  given.context.thread.track = track;
  expect(slow.body).toContain(file + html);
  expect(slow.info).toMatch(/^sent without tracking: it takes too long to read; 250/);
}, 60_000);

const toList = (...more: string[]) => mailOf([...more, 'Postrider-List: weekly', from, ...dated]);

test('a mail to a list goes to its members, with an unsubscribe link unless it has one', async () => {
  const email = address();
  const id = await relayOne(toList(), email);
  const body = await arrived(email);
  const [head, rest] = `${plain}`.split('\r\n\r\n');
  const link = /^List-Unsubscribe: <(https:\/\/mail\.example\/u\/w1\/([\w-]{43}))>\r\n/m;
  const [, url, token = ''] = link.exec(body) ?? [];
  expect(body).toBe(
    `${head}\r\nList-Unsubscribe: <${url}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\n${rest}`,
  );
  expect(await read(id)).toMatchObject({ listId: 'weekly' });
  await given.links.unsubscribeByLink({ workspaceId, token });
  expect(given.world.unsubscribed).toMatchObject([{ email, listId: 'weekly' }]);
  const own = address();
  await relay(toList('List-Unsubscribe: <mailto:leave@sender.example>'), own);
  expect((await arrived(own)).match(/^list-unsubscribe/gim)).toHaveLength(1);
});

test('a mail to a list that is retried goes to nobody who has left meanwhile', async () => {
  const email = address();
  const id = await relayOne(toList(), email);
  await untilStatus(id, 'sent');
  await query(
    given.store.fork(),
    `update messages set status = 'failed', failed_at = now(), sent_at = null where id = $1`,
    [id],
  );
  given.sink.reset();
  await given.messages.retryMessage({ workspaceId, id });
  await untilStatus(id, 'sent');
  await query(
    given.store.fork(),
    `update messages set status = 'failed', failed_at = now(), sent_at = null where id = $1`,
    [id],
  );
  given.sink.reset();
  given.world.skipReasons.set(email, 'unsubscribed');
  await given.messages.retryMessage({ workspaceId, id });
  await untilStatus(id, 'skipped');
  expect(given.sink.bodies(email)).toEqual([]);
});

test('a mail to a list that is not kept any more cannot be retried, and is no welcome', async () => {
  const id = await relayOne(toList(), address());
  await untilStatus(id, 'sent');
  const gone = [
    `update messages set status = 'failed', failed_at = now(), sent_at = null where id = $1`,
    'delete from message_requests where message_id = $1',
  ];
  for (const sql of gone) await query(given.store.fork(), sql, [id]);
  await expect(given.messages.retryMessage({ workspaceId, id })).rejects.toMatchObject({
    rawMessage: 'what the message is made from is gone',
  });
});

test('a mail to a list skips those who have left, and those on the suppression list', async () => {
  const [left, complained, member] = [address(), address(), address()];
  let calls = 0;
  // The first one is made when the mail is taken.
  given.world.resolving = async () => {
    calls += 1;
    if (calls > 1) given.world.skipReasons.set(left, 'unsubscribed');
  };
  await given.suppressions.addSuppression({ workspaceId, email: complained, reason: 'opted_out' });
  const { messageIds } = await relay(toList(), left, complained, member);
  await arrived(member);
  await Promise.all(messageIds.slice(0, 2).map((id) => untilStatus(id, 'skipped')));
  const skipped = await Promise.all(messageIds.slice(0, 2).map(read));
  expect(skipped.map((message) => message?.statusInfo)).toEqual(['unsubscribed', 'opted_out']);
  expect([...given.sink.bodies(left), ...given.sink.bodies(complained)]).toEqual([]);
});

test.each([
  ['Postrider-List: a b', 'Postrider-List must be the id of a list'],
  ['Postrider-Track-Opens: perhaps', 'Postrider-Track-Opens must be true or false'],
])('a mail with %s is refused', async (field, text) => {
  await expect(relay(mailOf([field, from, ...dated]), address())).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});
