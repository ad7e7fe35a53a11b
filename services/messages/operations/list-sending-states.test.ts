import { durationMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SendingStateService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { testTransport, userClaims } from '../../../test/setup/service.ts';
import { until } from '../../../test/stack/until.ts';
import { messagesRoutes } from '../service.ts';
import { batchOf, type Given, givenService, people } from '../test/given.ts';

let given: Given;
beforeAll(async () => {
  given = await givenService();
});
afterAll(() => given.close());

test('an operator sees what is open, and how much a server takes', async () => {
  const transport = testTransport(messagesRoutes(given.context));
  const operator = createClient(SendingStateService, transport(userClaims()));
  const states = async () => (await operator.listSendingStates({})).states;
  expect(await states()).toEqual([]);
  given.world.perMinute = 600_000;
  given.sink.behaviour.latencyMs = 100;
  expect(await given.sender.sendBatch(batchOf(people(20)))).toMatchObject({ sent: 20 });
  const [measured] = await states();
  expect(measured).toMatchObject({ workspaceId: 'w1', integrationId: 'smtp-1', isProbing: false });
  expect(measured).toMatchObject({ openMessages: 0, ratePerMinute: 600_000 });
  expect(measured?.window).toBeGreaterThanOrEqual(16);
  expect(measured?.connections).toBeGreaterThanOrEqual(1);
  expect(measured?.messageTime && durationMs(measured.messageTime)).toBeGreaterThanOrEqual(90);
  given.sink.behaviour.paused = true;
  const leaving = new AbortController();
  const sending = given.sender.sendBatch(batchOf(people(16)), { signal: leaving.signal });
  await until('they are on their way', async () => (await states())[0]?.openMessages === 16);
  given.sink.behaviour.paused = false;
  leaving.abort();
  await sending.catch(() => undefined);
  await until('all are recorded', async () => (await states())[0]?.openMessages === 0);
});
