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

test('an operator sees what waits, what is open, and how much a server takes', async () => {
  const transport = testTransport(messagesRoutes(given.context));
  const operator = createClient(SendingStateService, transport(userClaims()));
  const states = async () => (await operator.listSendingStates({})).states;
  expect(await states()).toEqual([]);
  given.sink.behaviour.latencyMs = 200;
  given.world.perMinute = 600_000;
  const sending = given.sender.sendBatch(batchOf(people(200)));
  await until('the server has answered one', async () => given.sink.total() > 16);
  const [state] = await states();
  expect(state).toMatchObject({ workspaceId: 'w1', integrationId: 'smtp-1', isProbing: false });
  expect(state?.openMessages).toBeGreaterThan(100);
  expect(state?.connections).toBeGreaterThanOrEqual(16);
  expect(state?.window).toBeGreaterThanOrEqual(16);
  expect(state?.ratePerMinute).toBe(600_000);
  expect(state?.messageTime?.nanos).toBeGreaterThanOrEqual(190_000_000);
  expect(await sending).toMatchObject({ sent: 200 });
  expect((await states())[0]?.openMessages).toBe(0);
});
