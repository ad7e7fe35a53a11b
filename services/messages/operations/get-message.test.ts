import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { broadcastMessageId } from '../message.ts';
import { eraseContents } from '../tasks/erase-contents.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { givenMessage } from '../test/transactional.ts';

const given = useService();
resetAfterEach(given);

// Settings are cached for some seconds, by workspace.
let workspaceId = '';
beforeEach(() => {
  workspaceId = `w${crypto.randomUUID()}`;
});

/**
 * Sends a batch in a process that knows the settings of now, and waits until its contents are
 * stored.
 */
async function send(emails: string[], over: Parameters<typeof batchOf>[1] = {}) {
  const sending = given.newProcess();
  const batch = { ...batchOf(emails, over), workspaceId };
  await sending.sender.sendBatch(batch);
  await sending.context.underway.drained(5_000);
  await sending.context.contents.drained(5_000);
  const [email = ''] = emails;
  return { ...sending, id: broadcastMessageId(workspaceId, batch.broadcastId, email) };
}

async function stored() {
  return query<{ message_id: string; content: Buffer }>(
    given.store.fork(),
    'select message_id, content from message_contents where workspace_id = $1',
    [workspaceId],
  );
}

test('get shows the content that was sent, where the workspace keeps it', async () => {
  given.world.contentDays = 30;
  given.world.fields.set('p0@example.com', { first_name: 'Zoë' });
  const { id, messages } = await send(['p0@example.com']);
  const { message, content } = await messages.getMessage({ workspaceId, id });
  expect(message).toMatchObject({ id, status: 'sent', contactEmail: 'p0@example.com' });
  expect(content?.subject).toBe('Hello Zoë');
  expect(content?.html).toContain('<p>Hi Zoë</p>');
  expect(content?.text).toContain('Hi Zoë');
  const headerOf = (name: string) => content?.headers.find((each) => each.name === name)?.value;
  expect(headerOf('Subject')).toBe('Hello Zoë');
  expect(headerOf('Message-ID')).toBe(`<${id}@sender.example>`);
  expect(headerOf('To')).toBe('p0@example.com');
});

test('contents are unreadable in the database', async () => {
  given.world.contentDays = 30;
  await send(['p0@example.com']);
  const [row] = await stored();
  expect(row?.content.toString('latin1')).not.toMatch(/Hello|p0@example/);
});

test('nothing is kept unless the workspace says so', async () => {
  const { id, messages } = await send(people(3));
  expect(await stored()).toEqual([]);
  expect((await messages.getMessage({ workspaceId, id })).content).toBeUndefined();
});

test('all messages of a batch are kept, except those that were not sent', async () => {
  given.world.contentDays = 1;
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^p1@', reply: '550 5.1.1 no such user' },
    { step: 'rcpt', recipient: '^p2@', reply: '450 later' },
  ];
  await send(people(150));
  expect((await stored()).length).toBe(148);
});

test('mails that are rendered in a thread are kept, and one over 1 MiB is not', async () => {
  given.world.contentDays = 1;
  const html = '{% for i in (1..n) %}{{ i }}{% endfor %}<p>slow {{ contact.first_name }}</p>';
  given.world.content = { ...given.world.content, html: html.replace('(1..n)', '(1..9)') };
  given.world.fields.set('p0@example.com', { first_name: 'Ann' });
  given.world.fields.set('p1@example.com', { first_name: 'x'.repeat(1024 * 1024) });
  const { id, messages } = await send(['p0@example.com', 'p1@example.com']);
  expect((await stored()).map((row) => row.message_id)).toEqual([id]);
  const { content } = await messages.getMessage({ workspaceId, id });
  expect(content?.html).toContain('<p>slow Ann</p>');
});

test('everything but the files of a mail is kept', async () => {
  given.world.contentDays = 1;
  const sending = given.newProcess();
  const { notification } = await sending.transactional.createNotification({
    workspaceId,
    notification: { id: 'r', name: 'R', channels: { email: { templateId: 'r' } } },
  });
  const file = {
    filename: 'big.bin',
    content: Buffer.alloc(2 * 1024 * 1024, 7).toString('base64'),
  };
  const { messageId: id } = await sending.transactional.sendTransactional({
    workspaceId,
    notification: {
      id: notification?.id,
      contact: { email: 'ann@example.com' },
      channels: ['email'],
      emailOptions: { attachments: [file], subject: 'Your file' },
    },
  });
  await sending.context.underway.drained(10_000);
  await sending.context.contents.drained(5_000);
  const { message, content } = await sending.messages.getMessage({ workspaceId, id });
  expect(message).toMatchObject({
    channelOptions: { subject: 'Your file' },
    attachments: [{ filename: 'big.bin', sizeBytes: 2 * 1024 * 1024 }],
  });
  expect(content?.subject).toBe('Your file');
  expect(content?.html).toContain('<p>Hi');
});

test('contents are not shown once their days are over, and then erased in steps', async () => {
  given.world.contentDays = 2;
  const { id, messages, context } = await send(people(3));
  const moved = (to: number) => ({ ...context, now: () => new Date(Date.now() + to) });
  const day = 24 * 60 * 60 * 1_000;
  const later = given.newProcess(moved(2.1 * day));
  expect((await messages.getMessage({ workspaceId, id })).content).toBeDefined();
  expect((await later.messages.getMessage({ workspaceId, id })).content).toBeUndefined();
  await eraseContents(moved(1.9 * day)).task();
  expect((await stored()).length).toBe(3);
  await eraseContents(moved(2.1 * day)).task();
  expect(await stored()).toEqual([]);
});

test('contents are erased once the workspace does not keep them any more', async () => {
  given.world.contentDays = 300;
  const { id } = await send(people(3));
  given.world.contentDays = 0;
  const now = given.newProcess();
  expect((await now.messages.getMessage({ workspaceId, id })).content).toBeUndefined();
  await eraseContents(now.context).task();
  expect(await stored()).toEqual([]);
});

test('a message of another workspace, an unknown one and no id at all are not found', async () => {
  const id = await givenMessage(given.store, { workspace_id: workspaceId });
  expect(
    (await given.messages.getMessage({ workspaceId, id: id.toUpperCase() })).message,
  ).toBeDefined();
  for (const key of [
    { workspaceId: 'other', id },
    { workspaceId, id: crypto.randomUUID() },
    { workspaceId, id: 'x' },
    { workspaceId, id: '\0' },
  ]) {
    await expect(given.messages.getMessage(key)).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'Message not found',
    });
  }
});

test('a deleted contact takes what is stored of its messages with it', async () => {
  given.world.contentDays = 300;
  const { events } = await send(['p0@example.com', 'p1@example.com']);
  const ids = [];
  for (const email of ['p0@example.com', 'p1@example.com']) {
    const id = await givenMessage(given.store, {
      workspace_id: workspaceId,
      contact_email: email,
      status: 'deferred',
      request: { data: {} },
    });
    await query(
      given.store.fork(),
      `insert into message_attachments (workspace_id, message_id, place, content) values ($1, $2, 0, 'x')`,
      [workspaceId, id],
    );
    ids.push(id);
  }
  const dataJson = JSON.stringify({ contact: { email: 'p0@example.com' } });
  await events.consumeEvents({
    workspaceId,
    batchId: crypto.randomUUID(),
    events: [{ type: 'contact.deleted', dataJson }],
  });
  const left = await query(
    given.store.fork(),
    `select (select count(*)::int from message_contents where workspace_id = $1) as contents,
       (select array_agg(message_id) from message_requests where workspace_id = $1) as requests,
       (select array_agg(message_id) from message_attachments where workspace_id = $1) as attachments,
       (select count(*)::int from messages where workspace_id = $1 and contact_email <> '') as messages`,
    [workspaceId],
  );
  expect(left).toEqual([{ contents: 1, requests: [ids[1]], attachments: [ids[1]], messages: 2 }]);
});

test('nothing is left of contacts that are deleted while mail to them is sent', async () => {
  given.world.contentDays = 1;
  /** Repeats a batch that a busy database did not take, as its producer does. */
  const delivered = (batch: Parameters<typeof given.events.consumeEvents>[0]): Promise<unknown> =>
    given.events.consumeEvents(batch).catch((error: unknown) => {
      if (ConnectError.from(error).code !== Code.Unavailable) throw error;
      return delivered(batch);
    });
  for (let round = 0; round < 5; round += 1) {
    const emails = people(60, `r${round}-`);
    await Promise.all([
      send(emails),
      ...emails.map((email) =>
        delivered({
          workspaceId,
          batchId: crypto.randomUUID(),
          events: [{ type: 'contact.deleted', dataJson: JSON.stringify({ contact: { email } }) }],
        }),
      ),
    ]);
  }
  const [row] = await query<{ left: number }>(
    given.store.fork(),
    `select count(*)::int as left from message_contents c
     join messages m on m.id = c.message_id and m.workspace_id = c.workspace_id
     where c.workspace_id = $1 and m.contact_email = ''`,
    [workspaceId],
  );
  expect(row?.left).toBe(0);
});
