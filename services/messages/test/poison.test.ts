import { createClient } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { SystemMailService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { testTransport } from '../../../test/setup/service.ts';
import { until } from '../../../test/stack/until.ts';
import { messagesRoutes } from '../service.ts';
import { clearMessages } from '../tasks/clear-messages.ts';
import { eraseContents } from '../tasks/erase-contents.ts';
import { sendConfirmations } from '../tasks/send-confirmations.ts';
import { resetAfterEach, useService } from './given.ts';
import { givenNotification, sendOf } from './given-notification.ts';
import { givenMessage } from './transactional.ts';

// A poisonous item first in each queue and loop of messages; docs/operations/faults.md names the
// tests of the others.

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);
const processes: ReturnType<typeof given.newProcess>[] = [];
afterEach(async () => {
  for (const process of processes.splice(0)) {
    await process.context.transactional.stop();
    process.context.admission.close();
  }
});

function newProcess(over: Parameters<typeof given.newProcess>[0] = {}) {
  const process = given.newProcess(over);
  processes.push(process);
  return process;
}

const change = (sql: string, values: readonly unknown[] = []) =>
  query(given.store.fork(), sql, [...values]);
const mailed = (email: string) =>
  until(`${email} gets its mail`, async () => given.sink.bodies(email).length > 0, {
    withinMs: 20_000,
  });

/** Queues a message that is due for an hour. */
async function queued(id: string, email: string): Promise<string> {
  const sendAt = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600), nanos: 0 };
  const request = sendOf(id, { contact: { email }, sendAt });
  const { messageId } = await given.transactional.sendTransactional(request);
  const tables = [
    ['messages', 'id'],
    ['message_requests', 'message_id'],
  ];
  for (const [table, key] of tables) {
    await change(`update ${table} set due_at = now() - interval '1 hour' where ${key} = $1`, [
      messageId,
    ]);
  }
  return messageId;
}

test.each([
  ['a request that cannot be opened', 'request'],
  ['a template that can never be read', 'template'],
  ['an address that the server never takes', 'recipient'],
])(
  'queued transactional mail goes out behind %s',
  async (_, poison) => {
    const [bad, good] = [await givenNotification(given), await givenNotification(given)];
    const first = await queued(bad, `poison-${bad}@example.com`);
    if (poison === 'request') {
      await change(`update message_requests set request = '\\x00' where message_id = $1`, [first]);
    }
    given.sink.behaviour.replies = [
      { step: 'rcpt', recipient: '^poison', reply: '530 5.7.0 log in first' },
    ];
    const email = `good-${good}@example.com`;
    await queued(good, email);
    const { plans } = given.context;
    const broken: typeof plans = {
      ...plans,
      get: (key) => {
        if (poison === 'template' && key.templateId === `t-${bad}`) throw new Error('out of order');
        return plans.get(key);
      },
    };
    newProcess({ plans: broken }).context.transactional.queue.start();
    await mailed(email);
    expect(given.sink.bodies(`poison-${bad}@example.com`)).toEqual([]);
  },
  30_000,
);

const due = (email: string, listId: string) => ({
  type: 'confirmation.due',
  dataJson: JSON.stringify({ email, list_id: listId }),
});
const consume = (events: { type: string; dataJson: string }[]) =>
  given.events.consumeEvents({ workspaceId, batchId: crypto.randomUUID(), events });

test('confirmation mails go out behind an address that the server never takes', async () => {
  const listId = 'poisoned';
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^poison', reply: '503 5.5.1 bad sequence' },
  ];
  await consume([due('poison-c@example.com', listId)]);
  await consume([due('c1@example.com', listId), due('c2@example.com', listId)]);
  await sendConfirmations(given.context)({ workspaceId, listId });
  await mailed('c1@example.com');
  await mailed('c2@example.com');
});

test('confirmation mails of a list go out though another list can never be mailed', async () => {
  const { contacts } = given.context;
  const getList: typeof contacts.getList = async (request) => {
    if (request.id === 'broken') throw new Error('out of order');
    return contacts.getList(request);
  };
  const process = newProcess({ contacts: { ...contacts, getList } });
  await consume([due('b1@example.com', 'broken'), due('b2@example.com', 'whole')]);
  const send = (listId: string) => sendConfirmations(process.context)({ workspaceId, listId });
  await expect(send('broken')).rejects.toThrow('out of order');
  await send('whole');
  await mailed('b2@example.com');
  const jobs = await change('select queue_name from messages_jobs.jobs');
  expect(jobs.length).toBeGreaterThan(0);
});

test('system mail goes out behind a recipient that the server refuses', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^poison', reply: '503 5.5.1 bad sequence' },
  ];
  const system = createClient(SystemMailService, testTransport(messagesRoutes(given.context))());
  const send = (to: string) =>
    system.sendSystemMail({ key: crypto.randomUUID(), to, subject: 'Code', text: '123456' });
  await expect(send('poison-s@example.com')).rejects.toThrow('refused the recipient');
  await send('s1@example.com');
  await mailed('s1@example.com');
});

test('events are applied beside one that names no contact', async () => {
  const nobody = ['confirmation.due', 'contact.deleted', 'a.new.type'];
  await consume([
    ...nobody.map((type) => ({ type, dataJson: '{}' })),
    due('e1@example.com', 'events'),
  ]);
  await sendConfirmations(given.context)({ workspaceId, listId: 'events' });
  await mailed('e1@example.com');
  expect(await change(`select 1 from confirmations where email = ''`)).toEqual([]);
});

test('old messages and contents are deleted behind a workspace whose settings cannot be read', async () => {
  await change('truncate messages, message_contents');
  const created_at = new Date(Date.now() - 100 * 24 * 3_600_000);
  for (const workspace_id of ['a-poison', 'b-good']) {
    const id = await givenMessage(given.store, { workspace_id, created_at });
    await change('insert into message_contents values ($1, $2, $3, $4)', [
      workspace_id,
      id,
      Buffer.from(''),
      created_at,
    ]);
  }
  given.world.messageDays = 90;
  const { plans } = newProcess().context;
  const settings: typeof plans.settings = async (id) => {
    if (id === 'a-poison') throw new Error('out of order');
    return plans.settings(id);
  };
  const { context } = newProcess({ plans: { ...plans, settings } });
  await eraseContents(context).task();
  await clearMessages(context).task();
  for (const table of ['messages', 'message_contents']) {
    expect(await change(`select workspace_id from ${table}`)).toEqual([
      { workspace_id: 'a-poison' },
    ]);
  }
});
