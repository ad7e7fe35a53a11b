import { afterEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { workspacesMax } from '../record/queue.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);

const processes: ReturnType<typeof given.newProcess>[] = [];

/** A process whose queue runs. */
function running() {
  const process = given.newProcess();
  process.context.transactional.queue.start();
  processes.push(process);
  return process;
}

async function end(process: ReturnType<typeof given.newProcess>) {
  await process.context.transactional.stop();
  process.context.admission.close();
}

// Processes of other tests have open connections, and would take waiting messages.
afterEach(() => Promise.all(processes.splice(0).map(end)));

type Row = { status: string; attempts: number; unknown: number; status_info: string | null };

async function rowOf(id: string): Promise<Row | undefined> {
  const rows = await query<Row>(given.store.fork(), 'select * from messages where id = $1', [id]);
  return rows[0];
}

const becomes = (id: string, status: string) =>
  until(`the message is ${status}`, async () => (await rowOf(id))?.status === status, {
    withinMs: 60_000,
  });

const change = (sql: string, id: string) => query(given.store.fork(), sql, [id]);

async function isQueued(id: string): Promise<boolean> {
  const sql = 'select 1 from message_requests where message_id = $1 and due_at is not null';
  return (await query(given.store.fork(), sql, [id])).length > 0;
}

const dueNow = (id: string) =>
  change('update message_requests set due_at = now() where message_id = $1', id);

async function mailed(email: string, count = 1) {
  await until('it arrives', async () => given.sink.bodies(email).length >= count, {
    withinMs: 60_000,
  });
}

const to = (email: string) => ({ contact: { email } });

test('a message that its process left behind is sent by another, and what it may have sent is in doubt', async () => {
  const id = await givenNotification(given);
  given.sink.behaviour.stallAt = 'mail';
  const dead = given.newProcess();
  const request = sendOf(id, { ...to('left@example.com'), data: { order: '1042' } });
  const { messageId } = await dead.transactional.sendTransactional(request);
  expect(await rowOf(messageId)).toMatchObject({ status: 'sending', attempts: 1 });
  // Nobody renews its lease any more.
  await change(
    `update messages set lease_until = now(), owner = gen_random_uuid() where id = $1`,
    messageId,
  );
  await dueNow(messageId);
  given.sink.behaviour.stallAt = null;
  running();
  await mailed('left@example.com');
  await becomes(messageId, 'sent');
  expect(await rowOf(messageId)).toMatchObject({ attempts: 2, unknown: 1 });
  await end(dead);
}, 90_000);

test('a message that a server defers is tried again when it is due, with all that it was accepted with', async () => {
  const id = await givenNotification(given);
  given.sink.behaviour.greylist = '451 4.7.1 greylisted, come back';
  const process = running();
  const email = `grey-${id}@example.com`;
  const { messageId } = await process.transactional.sendTransactional(
    sendOf(id, {
      ...to(email),
      emailOptions: {
        subject: 'Once more {{ order }}',
        attachments: [{ filename: 'a.txt', content: Buffer.from('hello').toString('base64') }],
      },
      data: { order: '1042' },
    }),
  );
  await becomes(messageId, 'deferred');
  await change('update messages set due_at = now() where id = $1', messageId);
  await dueNow(messageId);
  await mailed(email);
  await becomes(messageId, 'sent');
  const [body = ''] = given.sink.bodies(email);
  expect(body).toContain('Subject: Once more 1042');
  expect(body).toContain(Buffer.from('hello').toString('base64'));
}, 90_000);

test('while the server is away messages are accepted, and they go out when it is back', async () => {
  const id = await givenNotification(given);
  given.sink.behaviour.replies = [{ step: 'greeting', reply: '421 4.3.2 closed' }];
  const process = running();
  const answers = await Promise.all(
    [1, 2, 3].map((n) =>
      process.transactional.sendTransactional(sendOf(id, to(`away-${n}-${id}@example.com`))),
    ),
  );
  expect(answers.map(({ success }) => success)).toEqual([true, true, true]);
  await until('nothing is claimed', async () => {
    const rows = await Promise.all(answers.map(({ messageId }) => rowOf(messageId)));
    return rows.every((row) => row?.status === 'deferred' && row.attempts === 0);
  });
  given.sink.behaviour.replies = [];
  for (const { messageId } of answers) await becomes(messageId, 'sent');
}, 90_000);

test('messages above the rate wait in the queue without a claim, and all go out', async () => {
  const id = await givenNotification(given);
  given.world.perMinute = 300;
  const process = running();
  const notifications = Array.from({ length: 12 }, (_, n) => ({
    ...sendOf(id, to(`rate-${n}-${id}@example.com`)).notification,
  }));
  const { results } = await process.transactional.sendTransactionalBatch({
    workspaceId,
    notifications,
  });
  expect(results.every(({ success }) => success)).toBe(true);
  const statuses = await query<{ status: string; count: string }>(
    given.store.fork(),
    'select status, count(*) from messages where notification_id = $1 group by 1',
    [id],
  );
  const waiting = statuses.find(({ status }) => status === 'deferred');
  expect(Number(waiting?.count)).toBeGreaterThan(0);
  for (const { messageId = '' } of results) await becomes(messageId, 'sent');
  const total = notifications.map(({ contact }) => given.sink.bodies(contact?.email ?? '').length);
  expect(total).toEqual(Array(12).fill(1));
}, 90_000);

test('a message that has waited for a day fails, and says why', async () => {
  const id = await givenNotification(given);
  const { messageId } = await given.transactional.sendTransactional(
    sendOf(id, { sendAt: { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600), nanos: 0 } }),
  );
  // Any other process would send it.
  await Promise.all(processes.splice(0).map(end));
  const late = given.newProcess({ now: () => new Date(Date.now() + 26 * 60 * 60 * 1_000) });
  processes.push(late);
  await change('update messages set due_at = now() where id = $1', messageId);
  await dueNow(messageId);
  late.context.transactional.queue.start();
  await becomes(messageId, 'failed');
  expect(await rowOf(messageId)).toMatchObject({ status_info: 'not sent within a day' });
  // Nor may it take the messages of the next tests.
  await Promise.all(processes.splice(0).map(end));
}, 90_000);

test('done messages leave the queue, and their files go a day later', async () => {
  const id = await givenNotification(given);
  const process = running();
  const attachments = [{ filename: 'a.txt', content: 'aGVsbG8=' }];
  const { messageId } = await process.transactional.sendTransactional(
    sendOf(id, { emailOptions: { attachments } }),
  );
  await becomes(messageId, 'sent');
  await dueNow(messageId);
  await until('it has left the queue', async () => {
    const rows = await query<{ due_at: unknown; erase_at: unknown }>(
      given.store.fork(),
      `select r.due_at, a.erase_at from message_requests r join message_attachments a using (message_id)
       where message_id = $1`,
      [messageId],
    );
    return rows[0]?.due_at === null && rows[0].erase_at !== null;
  });
}, 90_000);

test('a message that comes into the queue just after it was tidied does not wait for the next look', async () => {
  const id = await givenNotification(given);
  // Any other process would look for it as well.
  await Promise.all(processes.splice(0).map(end));
  const process = running();
  const waits: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { messageId } = await process.transactional.sendTransactional(sendOf(id));
    await becomes(messageId, 'sent');
    await dueNow(messageId);
    await until('it has left the queue', async () => !(await isQueued(messageId)));
    const email = `queued-${round}-${id}@example.com`;
    const sentAtMs = performance.now();
    // A batch with a key goes to the queue.
    const headers = { 'idempotency-key': `${id}-${round}` };
    const notifications = [sendOf(id, to(email)).notification];
    await process.transactional.sendTransactionalBatch({ workspaceId, notifications }, { headers });
    await mailed(email);
    waits.push(performance.now() - sentAtMs);
  }
  // The next look is a second after the one that tidied.
  expect(Math.min(...waits)).toBeLessThan(700);
}, 90_000);

test('a message whose files are gone fails, and is not sent without them', async () => {
  const id = await givenNotification(given);
  const attachments = [{ filename: 'a.txt', content: 'aGVsbG8=' }];
  const sendAt = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600), nanos: 0 };
  const email = `gone-${id}@example.com`;
  const { messageId } = await given.transactional.sendTransactional(
    sendOf(id, { ...to(email), sendAt, emailOptions: { attachments } }),
  );
  await change('delete from message_attachments where message_id = $1', messageId);
  await change('update messages set due_at = now() where id = $1', messageId);
  await dueNow(messageId);
  running();
  await becomes(messageId, 'failed');
  expect(await rowOf(messageId)).toMatchObject({ status_info: 'its attachments are gone' });
  expect(given.sink.bodies(email)).toHaveLength(0);
}, 90_000);

test('a message that is due is found behind more workspaces than one look reads', async () => {
  const id = await givenNotification(given);
  await query(
    given.store.fork(),
    `insert into message_requests (workspace_id, message_id, due_at, request)
     select 'a' || n, gen_random_uuid(), now() + interval '20 days', '' from generate_series(0, $1::int) n`,
    [workspacesMax],
  );
  await Promise.all(processes.splice(0).map(end));
  const email = `behind-${id}@example.com`;
  // A batch with a key goes to the queue.
  await given.transactional.sendTransactionalBatch(
    { workspaceId, notifications: [sendOf(id, to(email)).notification] },
    { headers: { 'idempotency-key': id } },
  );
  running();
  await mailed(email);
  await query(given.store.fork(), `delete from message_requests where workspace_id like 'a%'`, []);
}, 90_000);

test('mail goes out while other workspaces have very many messages that expired', async () => {
  const id = await givenNotification(given);
  await Promise.all(processes.splice(0).map(end));
  // As many as are read at once, and first in the order.
  const expired = `with made as (
      insert into messages (workspace_id, id, contact_email, template_id, template_version, integration_id, status,
        attempts, due_at, created_at, updated_at)
      select 'a' || (n % 4), gen_random_uuid(), 'x@example.com', 't', 1, 'i', 'deferred', 0, now(), now(), now()
      from generate_series(1, 60000) n
      returning workspace_id, id
    )
    insert into message_requests (workspace_id, message_id, due_at, expires_at, request)
    select workspace_id, id, now(), now(), '' from made`;
  await query(given.store.fork(), expired, []);
  const left = async () => {
    const sql = `select count(*)::int as count from messages where workspace_id like 'a%' and status = 'deferred'`;
    const [row] = await query<{ count: number }>(given.store.fork(), sql, []);
    return row?.count ?? 0;
  };
  const email = `beside-${id}@example.com`;
  await given.transactional.sendTransactionalBatch(
    { workspaceId, notifications: [sendOf(id, to(email)).notification] },
    { headers: { 'idempotency-key': id } },
  );
  const { context } = running();
  await context.thread.text({ text: 'loads the thread' }, {});
  await mailed(email);
  expect(await left()).toBeGreaterThan(30_000);
  await until('all have expired', async () => (await left()) === 0, { withinMs: 60_000 });
  await query(given.store.fork(), `delete from message_requests where workspace_id like 'a%'`, []);
}, 120_000);
