import { afterEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { givenDomain } from '../test/given-domain.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();
resetAfterEach(given);
const workspaceId = 'w1';
const dayMs = 24 * 60 * 60 * 1_000;
const { domain } = givenDomain([['ed25519', 'e1']]);
const reason = 'the DNS records of sender.example have been wrong for over a day: see domains.get';

const processes: ReturnType<typeof given.newProcess>[] = [];
function running(aheadMs = 0) {
  const process = given.newProcess({ now: () => new Date(Date.now() + aheadMs) });
  process.context.transactional.queue.start();
  processes.push(process);
  return process;
}

async function end() {
  for (const { context } of processes.splice(0)) {
    await context.transactional.stop();
    context.admission.close();
  }
}
afterEach(end);

function change(domains: (typeof given.world)['domains']) {
  given.world.domains = domains;
  for (const { context } of processes) context.plans.refresh(workspaceId);
  given.peers.domains.refresh(workspaceId);
}

const messageOf = async (id: string) =>
  (await given.messages.getMessage({ workspaceId, id })).message;
const becomes = (id: string, over: object) =>
  until(
    'the message says so',
    async () => {
      const message = await messageOf(id);
      return Object.entries(over).every(
        ([name, value]) => Reflect.get(message ?? {}, name) === value,
      );
    },
    { withinMs: 30_000 },
  );
const lookNow = (id: string) =>
  query(
    given.store.fork(),
    'update message_requests set due_at = now() where message_id = $1 and due_at is not null',
    [id],
  );

async function accepted(process: ReturnType<typeof given.newProcess>, email: string) {
  const notification = await givenNotification(given);
  const request = sendOf(notification, { contact: { email } });
  return (await process.transactional.sendTransactional(request)).messageId;
}

test('a message of a held domain waits with the reason, others go on, and it goes out once it is free', async () => {
  given.world.senders = [{ id: 's3', email: 'hello@other.example', name: 'Other' }];
  const process = running();
  change([{ ...domain, isHeld: true }]);
  const id = await accepted(process, 'held@example.com');
  await becomes(id, { status: 'queued', statusInfo: reason });
  given.world.content = { ...defaultContent, senderId: 's3' };
  await becomes(await accepted(process, 'other@example.com'), { status: 'sent' });
  expect(given.sink.bodies('held@example.com')).toEqual([]);
  change([domain]);
  await lookNow(id);
  await becomes(id, { status: 'sent' });
  expect(await messageOf(id)).toMatchObject({ attempts: 1 });
});

test('a message that was held for days does not fail, and goes out afterwards', async () => {
  change([{ ...domain, isHeld: true }]);
  const id = await accepted(running(), 'days@example.com');
  await becomes(id, { statusInfo: reason });
  for (const days of [0.9, 1.8, 2.7]) {
    await end();
    await lookNow(id);
    running(days * dayMs);
    await until('it is looked at', async () => {
      const rows = await query(
        given.store.fork(),
        `select 1 from message_requests where message_id = $1 and due_at > now() + interval '50 s'`,
        [id],
      );
      return rows.length > 0;
    });
    expect(await messageOf(id)).toMatchObject({ status: 'queued' });
  }
  await end();
  change([domain]);
  await lookNow(id);
  running(3.5 * dayMs);
  await becomes(id, { status: 'sent' });
});
