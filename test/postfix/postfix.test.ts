import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { freePort } from '../../deploy/local/ports.ts';
import { useService } from '../../services/messages/test/given.ts';
import { applyAll, givenSent, takeEvents } from '../../services/messages/test/given-reports.ts';
import { returnedRows } from '../../services/messages/test/given-returned-mail.ts';
import { domain, givenDoor, returnPaths } from '../returned-mail/given-door.ts';
import { until } from '../stack/until.ts';
import { noPostfix, type Postfix, startPostfix } from './postfix.ts';

/*
 * Mails that leave through Debian's Postfix to a server that refuses them, the door.mails that
 * Postfix sends to their return paths, and what becomes of the messages.
 */

const reason = noPostfix();
if (reason)
  process.stderr.write(`Postfix does not run here, so its tests are skipped: ${reason}.\n`);
const withPostfix = reason ? test.skip : test;

const given = useService();
const workspaceId = 'w1';
let postfix: Postfix | undefined;
let door: Awaited<ReturnType<typeof givenDoor>>;

beforeAll(async () => {
  if (reason) return;
  door = await givenDoor(given);
  postfix = await startPostfix(await freePort(), {
    [`.${domain}`]: door.port,
    'dead.example': given.sink.port,
  });
  given.world.port = postfix.port;
}, 180_000);
afterAll(async () => {
  await postfix?.stop();
  await door?.stop();
});

const messageOf = async (id: string) =>
  (await given.messages.getMessage({ workspaceId, id })).message;
const suppressionOf = async (email: string) => {
  const page = await given.suppressions.listSuppressions({ workspaceId, emailPrefix: email });
  return page.suppressions[0]?.reason;
};

/** Refuses what is for a recipient of this name, at a step of its session. */
function refuse(name: string, step: 'rcpt' | 'dot', reply: string) {
  const rule = { step, recipient: `^${name}@`, reply };
  given.sink.behaviour.replies.push({ ...rule, times: 1_000 });
}

/** Sends through Postfix, which takes every mail. */
async function sendTo(name: string) {
  const email = `${name}@dead.example`;
  const { ids, batch } = await givenSent(door.process, [email]);
  const [id = ''] = ids;
  expect(batch).toBeDefined();
  expect(await messageOf(id)).toMatchObject({ status: 'sent' });
  return { id, email };
}

/** Waits until a notification about the message is stored, and applies it. */
async function reported(id: string, count = 1) {
  await until('a notification comes', async () => (await returnedRows(given, id)).length >= count, {
    withinMs: 40_000,
  });
  await applyAll(door.process.context);
}

withPostfix(
  'a recipient that is refused bounces within two seconds, and the same notification changes nothing again',
  async () => {
    refuse('ghost', 'rcpt', '550 5.1.1 <ghost@dead.example>: no such user');
    await takeEvents(door.process.context);
    const { id, email } = await sendTo('ghost');
    const sentAt = Date.now();
    await reported(id);
    expect(Date.now() - sentAt).toBeLessThan(2_000);
    const diagnostic = expect.stringContaining('550 5.1.1 <[address]>: no such user');
    expect(await messageOf(id)).toMatchObject({
      status: 'bounced',
      bounceClass: 'hard',
      diagnostic,
    });
    expect(await suppressionOf(email)).toBe('bounced');
    const events = async () => (await takeEvents(door.process.context)).map(({ type }) => type);
    expect((await events()).filter((type) => type === 'email.bounced')).toHaveLength(1);
    const [mail] = door.mails.splice(0);
    const returnPath = returnPaths.of({ workspaceId, messageId: id });
    for (const again of [mail, Buffer.from(`X-Other: 1\r\n${mail}`)]) {
      await door.process.inbound.recordReturnedMail({ returnPath, mail: again ?? Buffer.alloc(0) });
      await applyAll(door.process.context);
    }
    expect(await events()).toEqual([]);
    expect(await messageOf(id)).toMatchObject({ status: 'bounced', bounceClass: 'hard' });
    // The parameters of the envelope come back.
    expect(`${mail}`).toContain(`Original-Envelope-Id: ${id}`);
    expect(`${mail}`).toContain(`Original-Recipient: rfc822;${email}`);
  },
);

withPostfix.each([
  ['full', 'rcpt', '552 5.2.2 mailbox full', 'soft'],
  ['policy', 'rcpt', '550 5.7.1 refused by policy', 'sender'],
  ['content', 'dot', '554 5.6.0 content refused', 'message'],
] as const)(
  'a mail to %s, refused at %s with %s, is returned and suppresses nothing',
  async (name, step, reply, named) => {
    refuse(name, step, reply);
    const { id, email } = await sendTo(name);
    await reported(id);
    expect(await messageOf(id)).toMatchObject({ status: 'sent', bounceClass: named });
    expect(await suppressionOf(email)).toBeUndefined();
  },
);

withPostfix(
  'a mail that is delayed changes nothing, and is returned once it expires',
  async () => {
    refuse('later', 'rcpt', '450 4.2.0 greylisted');
    const { id, email } = await sendTo('later');
    await reported(id);
    expect(await returnedRows(given, id)).toMatchObject([{ type: '', state: 'ignored' }]);
    expect((await messageOf(id))?.bounceClass).toBeUndefined();
    await reported(id, 2);
    expect(await messageOf(id)).toMatchObject({ status: 'sent', bounceClass: 'soft' });
    expect(await suppressionOf(email)).toBeUndefined();
  },
  60_000,
);

withPostfix('a notification of success sets delivered', async () => {
  const { id, email } = await sendTo('living');
  const transport = createTransport({
    host: '127.0.0.1',
    port: postfix?.port ?? 0,
    ignoreTLS: true,
  });
  const from = returnPaths.of({ workspaceId, messageId: id });
  await transport.sendMail({
    ...{ envelope: { from, to: email }, subject: 'Hello', text: 'Hello' },
    dsn: { id, return: 'headers', notify: ['success'], recipient: email },
  });
  transport.close();
  await reported(id);
  expect(await messageOf(id)).toMatchObject({ status: 'delivered' });
});

withPostfix('a mail to a return path that is made up is refused while it comes in', async () => {
  const before = door.mails.length;
  const transport = createTransport({
    host: '127.0.0.1',
    port: postfix?.port ?? 0,
    ignoreTLS: true,
  });
  const to = `b-${'a'.repeat(39)}@w1.${domain}`;
  await transport.sendMail({ envelope: { from: '', to }, subject: 'x', text: 'x' });
  transport.close();
  await until('Postfix says so', async () =>
    /550 5\.1\.1 no such address/.test(postfix?.log() ?? ''),
  );
  expect(door.mails.length).toBe(before);
});
