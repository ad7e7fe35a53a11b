import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createRouterTransport } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type EventBatch, eventsOf, openOutbox } from '#lib/events/outbox.ts';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import { query } from '#lib/postgres/query.ts';
import { keyring } from '../../../test/setup/service.ts';
import { until } from '../../../test/stack/until.ts';
import { createTokenMaker } from '../links/token.ts';
import { broadcastMessageId } from '../message.ts';
import { batchOf, type Given, useService } from '../test/given.ts';
import { sendOf } from '../test/given-notification.ts';

const anywhere = createRouterTransport(() => {});

const given = useService();
let process: ReturnType<Given['newProcess']>;
beforeAll(async () => {
  process = given.newProcess({
    outbox: openOutbox('messages', { contacts: anywhere, webhooks: anywhere }),
  });
});
beforeEach(async () => {
  given.sink.behaviour.replies = [];
  await query(given.store.fork(), 'delete from messages_jobs._private_jobs', []);
});

const jobs = () =>
  query<{ payload: EventBatch }>(
    given.store.fork(),
    'select payload from messages_jobs._private_jobs',
    [],
  );

/** The events for a consumer, by address. */
async function eventsFor(consumer: string) {
  const batches = (await jobs()).filter(({ payload }) => payload.consumer === consumer);
  return batches
    .flatMap(({ payload }) => eventsOf(payload))
    .map(({ type, occurredAt, dataJson }) => ({ type, occurredAt, data: JSON.parse(dataJson) }))
    .toSorted((one, other) =>
      `${one.data.email}${one.type}`.localeCompare(`${other.data.email}${other.type}`),
    );
}

const idOf = ({ workspaceId, broadcastId }: ReturnType<typeof batchOf>, email: string) =>
  broadcastMessageId(workspaceId, broadcastId, email);

test('a sent message gives a sent event, a dead address a bounced one, and a deferred message none', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^dead@', reply: '550 5.1.1 no such user' },
    { step: 'rcpt', recipient: '^later@', reply: '450 4.2.0 later' },
    { step: 'dot', recipient: '^spam@', reply: '554 5.7.1 content refused' },
  ];
  const emails = ['dead', 'fine', 'later', 'spam'].map((name) => `${name}@example.com`);
  const batch = batchOf(emails);
  await process.sender.sendBatch(batch);
  const events = await eventsFor('webhooks');
  expect(events.map(({ type, data }) => [type, data.email])).toEqual([
    ['email.bounced', 'dead@example.com'],
    ['email.sent', 'fine@example.com'],
  ]);
  const [, fine] = events;
  expect(fine?.occurredAt).toEqual(timestampFromDate(new Date(fine?.data.event_timestamp)));
  expect(fine?.data).toEqual({
    email: 'fine@example.com',
    message_id: idOf(batch, 'fine@example.com'),
    template_id: batch.plan.templateId,
    broadcast_id: batch.broadcastId,
    list_id: 'weekly',
    channel: 'email',
    event_timestamp: expect.any(String),
    tags: [],
  });
  expect(await eventsFor('contacts')).toEqual([events[0]]);
});

test('a batch adds one job for each group of results, not one for each message', async () => {
  await process.sender.sendBatch(
    batchOf(Array.from({ length: 200 }, (_, at) => `n${at}@b.example`)),
  );
  const batches = await jobs();
  expect(batches.length).toBeLessThanOrEqual(8);
  expect(batches.flatMap(({ payload }) => eventsOf(payload))).toHaveLength(200);
});

test('the first open, click and unsubscription of a person give one event each, those of bots none', async () => {
  given.world.isTracked = true;
  const batch = batchOf(['ann@example.com', 'bot@example.com']);
  await process.sender.sendBatch(batch);
  await query(given.store.fork(), 'delete from messages_jobs._private_jobs', []);
  const tokenOf = (email: string) =>
    createTrackingTokens(keyring)(batch.workspaceId, idOf(batch, email), Buffer.alloc(8));
  const { workspaceId } = batch;
  const ann = { workspaceId, token: tokenOf('ann@example.com'), isBot: false };
  const bot = { workspaceId, token: tokenOf('bot@example.com'), isBot: true };
  await process.tracking.recordHits({ hits: [ann, { ...bot, link: 0 }] });
  await process.tracking.recordHits({ hits: [ann, { ...ann, link: 0 }] });
  await process.tracking.recordHits({ hits: [{ ...ann, link: 0 }] });
  const leaving = {
    workspaceId,
    token: createTokenMaker(keyring)(workspaceId, idOf(batch, 'ann@example.com')),
  };
  await process.links.unsubscribeByLink(leaving);
  await process.links.unsubscribeByLink(leaving);
  const events = await eventsFor('webhooks');
  expect(events.map(({ type, data }) => [type, data.email])).toEqual([
    ['email.clicked', 'ann@example.com'],
    ['email.opened', 'ann@example.com'],
    ['email.unsubscribed', 'ann@example.com'],
  ]);
});

test('events of a message have its tags', async () => {
  const content = { subject: 'Hi', text: 'Hi' };
  const request = sendOf('', { contact: { email: 'tagged@b.example' }, tags: ['b', 'a'], content });
  const { workspaceId } = request;
  const { messageId } = await process.transactional.sendTransactional(request);
  await until('it is sent', async () => (await eventsFor('webhooks')).length === 1);
  const token = createTrackingTokens(keyring)(workspaceId, messageId, Buffer.alloc(8));
  await process.tracking.recordHits({ hits: [{ workspaceId, token, isBot: false }] });
  expect((await eventsFor('webhooks')).map(({ type, data }) => [type, data.tags])).toEqual([
    ['email.opened', ['a', 'b']],
    ['email.sent', ['a', 'b']],
  ]);
});

test('hits of several workspaces give events to each of them alone', async () => {
  const batches = ['w1', 'w2'].map((workspaceId) => ({
    ...batchOf(['ann@example.com']),
    workspaceId,
  }));
  for (const batch of batches) await process.sender.sendBatch(batch);
  await query(given.store.fork(), 'delete from messages_jobs._private_jobs', []);
  const hits = batches.map((batch) => {
    const { workspaceId } = batch;
    const id = idOf(batch, 'ann@example.com');
    return {
      workspaceId,
      token: createTrackingTokens(keyring)(workspaceId, id, Buffer.alloc(8)),
      isBot: false,
    };
  });
  await process.tracking.recordHits({ hits });
  const events = (await jobs()).map(({ payload }) => [payload.workspaceId, payload.types.length]);
  expect(events.toSorted()).toEqual([
    ['w1', 1],
    ['w2', 1],
  ]);
});

test('no events are written when there is no consumer', async () => {
  const alone = given.newProcess({ outbox: openOutbox('messages', { contacts: anywhere }) });
  await alone.sender.sendBatch(batchOf(['ann@example.com']));
  expect(await jobs()).toEqual([]);
});
