import { connect, createServer, type Socket } from 'node:net';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { query } from '#lib/postgres/query.ts';
import { listen } from '../../../test/sink-control.ts';
import { claim } from '../record/claims.ts';
import { finishIndividualSend } from '../tasks/finish-individual-send.ts';
import { batchOf, resetAfterEach, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const workspaceId = 'w1';

const given = useService();
resetAfterEach(given);

const ada = 'ada@example.com';

/** An individual send of a broadcast of its own. */
function byHand(recipientEmail = ada) {
  const { emails, ...common } = batchOf([recipientEmail]);
  return { ...common, recipientEmail };
}

type Asked = ReturnType<typeof byHand>;

const rowsOf = ({ broadcastId }: Asked) =>
  query<Record<string, unknown>>(
    given.store.fork(),
    'select * from messages where broadcast_id = $1',
    [broadcastId],
  );

test('sendIndividual sends at once, under an id of its own each time', async () => {
  given.world.fields.set(ada, { first_name: 'Ada' });
  const asked = byHand();
  await given.sender.sendIndividual(asked);
  await given.sender.sendIndividual(asked);
  const mails = await Promise.all(given.sink.bodies(ada).map((body) => PostalMime.parse(body)));
  expect(mails.map(({ subject }) => subject)).toEqual(['Hello Ada', 'Hello Ada']);
  expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(2);
  expect(await rowsOf(asked)).toMatchObject([{ status: 'sent' }, { status: 'sent' }]);
});

test('an individual send is in the history, and in no count of the broadcast', async () => {
  given.world.isTracked = true;
  const fresh = given.newProcess();
  const asked = byHand();
  await fresh.sender.sendBatch({ ...asked, emails: ['member@example.com'] });
  given.world.content = { ...defaultContent, html: '<a href="https://a.example/">a</a>' };
  const { broadcastId } = asked;
  await fresh.sender.sendIndividual({ ...asked, plan: { ...asked.plan, templateId: 'other' } });
  const html = (await PostalMime.parse(given.sink.bodies(ada)[0] ?? '')).html ?? '';
  const token = /\/r\/w1\/([\w-]{43})\/0/.exec(html)?.[1] ?? '';
  await fresh.tracking.recordHits({ hits: [{ workspaceId, token, link: 0 }] });
  const { messages } = await fresh.messages.listMessages({ workspaceId, broadcastId });
  expect(messages.map(({ contactEmail, byHand }) => [contactEmail, byHand])).toEqual([
    [ada, true],
    ['member@example.com', false],
  ]);
  expect(messages[0]?.clickedAt).toBeDefined();
  const { stats } = await fresh.messages.getBroadcastStats({ workspaceId, broadcastId });
  expect(stats).toMatchObject({ totalSent: 1, totalClicked: 0 });
  const variations = await fresh.sender.listVariationStats({
    workspaceId,
    broadcastIds: [broadcastId],
  });
  expect(variations.stats).toMatchObject([{ templateId: asked.plan.templateId, sent: 1 }]);
  const clicks = 'select * from link_clicks where broadcast_id = $1';
  expect(await query(given.store.fork(), clicks, [broadcastId])).toEqual([]);
  given.world.isTracked = false;
  fresh.context.admission.close();
});

test('sendIndividual sends to an address that is no contact, without any other value', async () => {
  given.world.unknownContacts.add('new@example.com');
  given.world.content = {
    ...defaultContent,
    html: '<p>[{{ contact.email }}][{{ contact.first_name }}][{{ list.name }}]</p>',
  };
  await given.newProcess().sender.sendIndividual(byHand('new@example.com'));
  const mail = await PostalMime.parse(given.sink.bodies('new@example.com')[0] ?? '');
  expect(mail.html).toContain('[new@example.com][][Weekly]');
});

test('sendIndividual sends to unsubscribed contacts, but not to bounced or complained ones', async () => {
  given.world.skipReasons
    .set('gone@example.com', 'unsubscribed')
    .set('dead@example.com', 'bounced')
    .set('cross@example.com', 'complained');
  await given.sender.sendIndividual(byHand('gone@example.com'));
  for (const [email, reason] of [
    ['dead@example.com', 'bounced'],
    ['cross@example.com', 'complained'],
  ]) {
    await expect(given.sender.sendIndividual(byHand(email))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: `recipient_email may not be written to: ${reason}`,
    });
  }
  expect([...given.sink.received.keys()]).toEqual(['gone@example.com']);
});

test('an individual send that bounces hard suppresses the address', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^noone@', reply: '550 5.1.1 <noone@example.com> no such user' },
  ];
  const asked = byHand('noone@example.com');
  await expect(given.sender.sendIndividual(asked)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringMatching(/^the message was not sent: 550 5\.1\.1 [^@]*no such user$/),
  });
  expect(await rowsOf(asked)).toMatchObject([{ status: 'failed', by_hand: true }]);
  await expect(given.sender.sendIndividual(asked)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('an individual send that the server defers fails, and is not tried again', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', recipient: '^ada@', reply: '450 4.2.0 later' }];
  const asked = byHand();
  await expect(given.sender.sendIndividual(asked)).rejects.toMatchObject({
    code: Code.Unavailable,
    rawMessage: 'the message was put off: 450 4.2.0 later',
  });
  expect(await rowsOf(asked)).toMatchObject([
    { status: 'failed', due_at: null, status_info: '450 4.2.0 later' },
  ]);
});

test('sendIndividual reports a provider that takes no mail, and records nothing', async () => {
  given.world.port = 1;
  const asked = byHand();
  const fresh = given.newProcess();
  await expect(fresh.sender.sendIndividual(asked)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringMatching(/^the message was not sent: [^@]+$/),
  });
  expect(await rowsOf(asked)).toEqual([]);
  fresh.context.admission.close();
});

test('sendIndividual reports a message that the rate limit holds back as not sent in time', async () => {
  given.world.perMinute = 1;
  const { plan, ...asked } = byHand();
  const slow = { ...asked, plan: { ...plan, integrationId: crypto.randomUUID() } };
  const fresh = given.newProcess();
  await fresh.sender.sendIndividual(slow);
  await expect(fresh.sender.sendIndividual(slow, { timeoutMs: 1_200 })).rejects.toMatchObject({
    code: Code.Unavailable,
    rawMessage: 'the message was not sent in time',
  });
  expect(given.sink.total()).toBe(1);
  fresh.context.admission.close();
});

test('an individual send fails on record after its process died', async () => {
  const asked = byHand();
  const { broadcastId } = asked;
  const id = crypto.randomUUID();
  const { templateId, listId, integrationId } = asked.plan;
  const group = { workspaceId, broadcastId, templateId, listId, integrationId };
  const individual = { ...group, templateVersion: 1, isByHand: true };
  const claimants = [{ id, email: ada, skipReason: '' }];
  await claim(given.store, crypto.randomUUID(), individual, { claimants, areNew: true });
  const end = () => finishIndividualSend(given.store)({ workspaceId, id });
  await end();
  expect(await rowsOf(asked)).toMatchObject([{ status: 'sending' }]);
  const again = await query<{ payload: { id: string } }>(
    given.store.fork(),
    `select payload from messages_jobs._private_jobs as job
     join messages_jobs._private_tasks as task on task.id = job.task_id
     where identifier = 'endByHand' and run_at > now()`,
    [],
  );
  expect(again.map(({ payload }) => payload.id)).toContain(id);
  const expire = "update messages set lease_until = now() - interval '1 second' where id = $1";
  await query(given.store.fork(), expire, [id]);
  await end();
  expect(await rowsOf(asked)).toMatchObject([
    { status: 'failed', unknown: 1, status_info: 'its sender ended', lease_until: null },
  ]);
});

test('sendIndividual refuses a plan that cannot be sent', async () => {
  given.world.content = { ...defaultContent, html: '{% if x %}' };
  await expect(given.sender.sendIndividual(byHand())).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test('sendIndividual sends through a server that greets late, as some do against spam', async () => {
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    setTimeout(() => {
      const server = connect(given.sink.port, '127.0.0.1');
      server.on('error', () => undefined);
      socket.pipe(server).pipe(socket);
    }, 6_000);
  });
  given.world.port = await listen(proxy, 0);
  const asked = byHand();
  const plan = { ...asked.plan, integrationId: crypto.randomUUID() };
  await given.sender.sendIndividual({ ...asked, plan });
  expect(given.sink.received.get(ada)?.count).toBe(1);
  for (const socket of sockets) socket.destroy();
  proxy.close();
}, 30_000);
