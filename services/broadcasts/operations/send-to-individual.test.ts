import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { SendIndividualRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import { useFeedServer } from '../../../test/feed-server.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import { noProviderText } from '../plan/provider.ts';
import { givenBroadcast, tested, useService } from '../test/given.ts';

const given = useService();
const feed = useFeedServer('{"title":"Sale"}');
const asked: SendIndividualRequest[] = [];
beforeEach(() => {
  asked.length = 0;
  Object.assign(given.peers, {
    hasTemplate: true,
    providerId: 'smtp',
    sendIndividual: (request: SendIndividualRequest) => asked.push(request),
  });
});

const send = (
  { workspaceId, id }: { workspaceId: string; id: string },
  more: { recipientEmail?: string; templateId?: string } = {},
) =>
  given.client.sendToIndividual({
    workspaceId,
    broadcastId: id,
    recipientEmail: 'Ada@Example.com',
    ...more,
  });

test('sendToIndividual sends a draft as it would be sent now', async () => {
  const key = await givenBroadcast(given);
  expect(await send(key)).toMatchObject({ success: true });
  expect(asked).toMatchObject([
    {
      workspaceId: key.workspaceId,
      broadcastId: key.id,
      recipientEmail: 'ada@example.com',
      plan: {
        templateId: 'hello',
        templateVersion: 7,
        integrationId: 'smtp',
        listId: 'news',
        listName: 'News',
        broadcastName: 'Hello',
      },
    },
  ]);
});

test('sendToIndividual sends the pinned content once a broadcast has started', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  await new MockActivityEnvironment().run(() => freezeAudience(given.context)(key));
  given.peers.hasTemplate = false;
  given.peers.providerId = 'another';
  await send(key);
  expect(asked).toMatchObject([{ plan: { templateVersion: 7, integrationId: 'smtp' } }]);
});

test('sendToIndividual sends the requested variation, by default the first', async () => {
  const key = await givenBroadcast(given, { test_settings: tested });
  await send(key, { templateId: 'b' });
  await send(key);
  expect(asked.map(({ plan }) => plan?.templateId)).toEqual(['b', 'a']);
});

test('sendToIndividual passes the feeds on', async () => {
  const one = { enabled: true, url: feed.url, headers: [] };
  const key = await givenBroadcast(given, {
    data_feed: { global_feed: one, recipient_feed: one },
  });
  await send(key);
  const [request] = asked;
  expect(JSON.parse(request?.plan?.globalFeedJson ?? '')).toMatchObject({ title: 'Sale' });
  expect(request?.plan?.recipientFeed).toMatchObject({ url: feed.url });
});

test('sendToIndividual says why a feed fails', async () => {
  feed.behaviour = (_, response) => response.writeHead(404).end();
  const key = await givenBroadcast(given, {
    data_feed: { global_feed: { enabled: true, url: feed.url, headers: [] } },
  });
  await expect(send(key)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'global feed failed: HTTP error 404: Not Found',
  });
  expect(asked).toEqual([]);
});

test.each([
  ['', 'recipient_email is required'],
  ['nobody', 'recipient_email: invalid email format'],
  ['a@example.com, b@example.com', 'recipient_email: invalid email format'],
  [
    'grüße@example.com',
    'recipient_email: invalid email format: only ASCII characters are supported before the @',
  ],
])('sendToIndividual refuses the address “%s”', async (recipientEmail, rawMessage) => {
  const key = await givenBroadcast(given);
  await expect(send(key, { recipientEmail })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage,
  });
});

test('sendToIndividual refuses a template that no variation has', async () => {
  const key = await givenBroadcast(given);
  await expect(send(key, { templateId: 'other' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'the template is none of the variations',
  });
});

test('sendToIndividual refuses a draft without a provider or a template', async () => {
  const key = await givenBroadcast(given);
  given.peers.providerId = '';
  await expect(send(key)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: noProviderText,
  });
  given.peers.providerId = 'smtp';
  given.peers.hasTemplate = false;
  await expect(send(key)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'template hello not found',
  });
});

test('sendToIndividual does not find an unknown broadcast', async () => {
  await expect(send({ workspaceId: 'acme', id: 'nope' })).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'Broadcast not found',
  });
});

test.each([
  [Code.FailedPrecondition, 'the message was not sent: 550 5.1.1 no such user', undefined],
  [Code.Unavailable, 'the message was put off: 450 4.2.0 greylisted', undefined],
  [Code.NotFound, 'Integration not found', Code.FailedPrecondition],
])('sendToIndividual passes on what messages says: %s %s', async (code, text, told) => {
  given.peers.sendIndividual = () => {
    throw new ConnectError(text, code);
  };
  await expect(send(await givenBroadcast(given))).rejects.toMatchObject({
    code: told ?? code,
    rawMessage: text,
  });
});
