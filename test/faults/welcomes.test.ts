import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { givenTemplate, good, importContacts, unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { queryStack } from '../stack/webhooks.ts';

const stack = borrowedStack();

const people = 500;
const callers = 16;
/** Between a call that failed and its repeat. */
const pauseMs = 50;
/** Counts of answers at which a process is killed. */
const kills = new Map([
  [100, 'messages'],
  [180, 'contacts'],
  [260, 'messages-2'],
  [340, 'contacts'],
  [420, 'messages'],
  [500, 'messages-2'],
]);

/** Each is killed as the first welcomes of another part of an import have come. */
const victims = ['messages', 'contacts', 'messages-2'];
const partSize = process.env.FULL_SIZE ? 33_000 : 600;

async function givenWelcomingList(more: { include_imports?: boolean } = {}): Promise<string> {
  const { call, workspaceId: workspace_id } = stack;
  const id = unique('welcome');
  const channels = { email: { template_id: await givenTemplate(stack) } };
  const notification = { id, name: 'Hello', channels };
  good(await call('transactional.create', { workspace_id, notification }));
  const welcome = { notification_id: id, ...more };
  good(await call('lists.create', { workspace_id, id, name: 'Readers', welcome }));
  return id;
}

/** Subscribes all, each until it is answered with 200, and kills processes meanwhile. */
async function subscribeAll(listId: string): Promise<string[]> {
  const emails = Array.from({ length: people }, (_, at) => `r${at}.${listId}@example.com`);
  const left = [...emails];
  let answered = 0;
  const caller = async () => {
    for (let email = left.pop(); email !== undefined; email = left.pop()) {
      const body = { workspace_id: stack.workspaceId, contact: { email }, list_ids: [listId] };
      while ((await stack.call('lists.subscribe', body).catch(() => undefined))?.status !== 200) {
        await sleep(pauseMs);
      }
      answered += 1;
      const victim = kills.get(answered);
      if (victim) stack.processes.kill(victim);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return emails;
}

/** Brings forward what dead processes left: jobs after two minutes, welcomes after 30 s. */
async function passMinutes(listId: string): Promise<void> {
  // Jobs of living processes as well, so that batches come twice.
  for (const [schema, of] of [
    ['contacts', `payload->>'consumer' = 'messages'`],
    ['messages', `payload->>'listId' = '${listId}'`],
  ]) {
    await queryStack(
      stack,
      `update ${schema}_jobs._private_jobs set locked_at = null, locked_by = null, run_at = now() where ${of}`,
    );
  }
  await queryStack(
    stack,
    `update messages_jobs._private_job_queues set locked_at = null, locked_by = null
     where queue_name like 'welcomes/%'`,
  );
  await queryStack(
    stack,
    `update messages.messages set lease_until = now() - interval '1 second'
     where list_id = $1 and status = 'sending' and lease_until < now() + interval '10 seconds'`,
    [listId],
  );
  await queryStack(
    stack,
    `update messages.welcomes w set due_at = now() from messages.messages m
     where w.list_id = $1 and m.id = w.message_id and w.due_at is not null
       and coalesce(m.lease_until, m.due_at) <= now()`,
    [listId],
  );
}

/** How many mails went to each address of a list. */
function welcomesIn(listId: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { email } of stack.mails()) {
    if (email.includes(`.${listId}@`)) counts.set(email, (counts.get(email) ?? 0) + 1);
  }
  return counts;
}

/** Waits until `count` addresses of a list have a welcome. */
async function untilWelcomed(listId: string, count: number): Promise<void> {
  const isThere = () => welcomesIn(listId).size >= count;
  await until(
    `${count} are welcomed`,
    async () => {
      // Leftovers of dead processes are brought forward once nothing has come for a while.
      const giveUpAtMs = Date.now() + 3_000;
      while (!isThere() && Date.now() < giveUpAtMs) await sleep(50);
      if (isThere()) return true;
      await passMinutes(listId);
      return false;
    },
    { withinMs: 600_000 },
  );
}

/** Each has one message, and one mail but where its process died while the mail was on its way. */
async function expectOnce(listId: string, emails: readonly string[]): Promise<void> {
  const rows = () =>
    queryStack<{ contact_email: string; status: string; unknown: number }>(
      stack,
      'select contact_email, status, unknown from messages.messages where list_id = $1',
      [listId],
    );
  await until('all are recorded', async () => {
    await passMinutes(listId);
    return (await rows()).every(({ status }) => status !== 'sending' && status !== 'deferred');
  });
  const recorded = await rows();
  expect(recorded.map((row) => row.contact_email).toSorted()).toEqual(emails.toSorted());
  // A mail that was on its way as its process died counts as unknown, and may come again.
  const known = recorded.filter(({ unknown }) => unknown === 0).map((row) => row.contact_email);
  const received = welcomesIn(listId);
  expect(known.filter((email) => received.get(email) !== 1)).toEqual([]);
  expect(known.length).toBeGreaterThan(emails.length * 0.8);
}

test('everybody who subscribes while contacts and messages are killed is welcomed, by one message', async () => {
  const listId = await givenWelcomingList();
  const emails = await subscribeAll(listId);
  await stack.untilServing();
  await untilWelcomed(listId, emails.length);
  await expectOnce(listId, emails);
}, 300_000);

test('everybody of an import is welcomed by one message, while contacts and messages are killed', async () => {
  const listId = await givenWelcomingList({ include_imports: true });
  let emails: string[] = [];
  for (const victim of victims) {
    const before = emails.length;
    // Earlier members are in the import again, and are not welcomed again.
    emails = await importContacts(stack, listId, before + partSize);
    await untilWelcomed(listId, before + 1);
    stack.processes.kill(victim);
    await stack.untilServing();
  }
  await untilWelcomed(listId, emails.length);
  await expectOnce(listId, emails);
}, 900_000);
