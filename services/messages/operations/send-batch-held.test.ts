import { beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { broadcastMessageId } from '../message.ts';
import { sendConfirmations } from '../tasks/send-confirmations.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { givenDomain } from '../test/given-domain.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();
resetAfterEach(given);

const { domain } = givenDomain([['ed25519', 'e1']]);
const reason = 'the DNS records of sender.example have been wrong for over a day: see domains.get';
let process: ReturnType<typeof given.newProcess>;
beforeEach(() => {
  process = given.newProcess();
});

/** The notice that settings have changed, as workspaces gives it. */
const change = (domains: (typeof given.world)['domains']) => {
  given.world.domains = domains;
  process.context.plans.refresh('w1');
};

const rowsOf = (broadcastId: string) =>
  query(given.store.fork(), 'select * from messages where broadcast_id = $1', [broadcastId]);

test('mail of a held domain waits like in an outage, is not begun, and goes out when it is free', async () => {
  const emails = people(20, 'held');
  const batch = batchOf(emails);
  change([{ ...domain, isHeld: true }]);
  expect(await process.sender.sendBatch(batch)).toMatchObject({
    ...{ sent: 0, failed: 0, notStarted: 20, outage: reason },
  });
  expect(await rowsOf(batch.broadcastId)).toEqual([]);
  change([domain]);
  expect(await process.sender.sendBatch(batch)).toMatchObject({ sent: 20, outage: '' });
  expect(emails.map((email) => given.sink.bodies(email).length)).toEqual(emails.map(() => 1));
});

test('mail of another domain of the same integration goes on', async () => {
  given.world.senders = [{ id: 's3', email: 'hello@other.example', name: 'Other' }];
  change([{ ...domain, isHeld: true }, { name: 'other.example' }, { name: 'sub.sender.example' }]);
  expect(await process.sender.sendBatch(batchOf(people(3, 'no')))).toMatchObject({ sent: 0 });
  given.world.content = { ...defaultContent, senderId: 's3' };
  expect(await process.sender.sendBatch(batchOf(people(3, 'yes')))).toMatchObject({ sent: 3 });
});

test('a deferred message whose domain is held says so, and its tries are not counted', async () => {
  given.sink.behaviour.greylist = '451 4.7.1 come back later';
  const emails = people(1, 'grey');
  const batch = batchOf(emails);
  change([domain]);
  expect(await process.sender.sendBatch(batch)).toMatchObject({ deferred: 1 });
  await query(given.store.fork(), 'update messages set due_at = now() where broadcast_id = $1', [
    batch.broadcastId,
  ]);
  change([{ ...domain, isHeld: true }]);
  expect(await process.sender.sendBatch(batch)).toMatchObject({ outage: reason });
  const id = broadcastMessageId('w1', batch.broadcastId, emails[0] ?? '');
  const { message } = await given.messages.getMessage({ workspaceId: 'w1', id });
  expect(message).toMatchObject({ status: 'deferred', attempts: 1, statusInfo: reason });
  change([domain]);
  expect(await process.sender.sendBatch(batch)).toMatchObject({ sent: 1 });
});

test.each([
  ['cannot be opened', 'p1:bm90aGluZw=='],
  ['is of another kind', undefined],
  ['is no key', 'v2:'],
])('mail whose only key %s waits, since it may not go out unsigned', async (what, sealedKey) => {
  const key = domain.signingKeys[0];
  if (!key) throw new Error('no key');
  const broken = sealedKey ? { ...key, sealedPrivateKey: sealedKey } : { ...key, algorithm: 'rsa' };
  change([{ ...domain, signingKeys: [broken] }]);
  const email = `${what.replaceAll(' ', '-')}@example.com`;
  expect(await process.sender.sendBatch(batchOf([email]))).toMatchObject({
    sent: 0,
    outage: 'the DKIM keys of sender.example cannot be used: replace them by domains.rotateKey',
  });
  expect(given.sink.bodies(email)).toEqual([]);
});

test('a key that is sealed for another domain is not used', async () => {
  const other = givenDomain([['ed25519', 'e1']], { name: 'other.example' });
  change([{ ...domain, signingKeys: other.domain.signingKeys }]);
  expect(await process.sender.sendBatch(batchOf(people(1, 'foreign')))).toMatchObject({ sent: 0 });
});

test('a confirmation mail of a held domain waits with the reason, and goes out when it is free', async () => {
  const email = 'held-pending@example.com';
  const confirm = () => sendConfirmations(process.context)({ workspaceId: 'w1', listId: 'weekly' });
  change([{ ...domain, isHeld: true }]);
  const data = { email, list_id: 'weekly' };
  const events = [{ type: 'confirmation.due', dataJson: JSON.stringify(data) }];
  await process.events.consumeEvents({ workspaceId: 'w1', batchId: crypto.randomUUID(), events });
  await confirm();
  const [row] = await query<{ status: string; status_info: string }>(
    given.store.fork(),
    'select status, status_info from messages where contact_email = $1',
    [email],
  );
  expect(row).toEqual({ status: 'deferred', status_info: reason });
  change([domain]);
  await confirm();
  expect(given.sink.bodies(email)).toHaveLength(1);
});

test('a test of a template says why it was not sent', async () => {
  given.world.testData = {};
  change([{ ...domain, isHeld: true }]);
  const request = { workspaceId: 'w1', templateId: 'receipt', integrationId: 'smtp-1' };
  expect(
    await process.transactional.testTemplate({
      ...request,
      senderId: 's1',
      recipientEmail: 'dev@example.com',
    }),
  ).toMatchObject({ success: false, error: `the message was not sent: ${reason}` });
});
