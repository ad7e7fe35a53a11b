import { setTimeout as sleep } from 'node:timers/promises';
import { enumToJson } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, test } from '@jest/globals';
import { Health, HealthCheckResponse_ServingStatusSchema } from '#gen/grpc/health/v1/health_pb.ts';
import { givenBroadcast, givenList, good, sendNow, untilStatus } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

const stack = borrowedStack();

/** The states that the health service of contacts streams, from now until it serves again. */
async function watchContacts(): Promise<string[]> {
  const baseUrl = `http://${stack.settings.CONTACTS_GRPC_ADDR}`;
  const client = createClient(Health, createGrpcTransport({ baseUrl }));
  const said: string[] = [];
  for await (const { status } of client.watch({})) {
    said.push(String(enumToJson(HealthCheckResponse_ServingStatusSchema, status)));
    if (said.length === 3) break;
  }
  return said;
}

const services = ['workspaces', 'contacts', 'templates', 'broadcasts', 'messages'];

async function countContacts(): Promise<number> {
  const query = { workspace_id: stack.workspaceId };
  return good(await stack.call('contacts.count', undefined, { query })).total_contacts;
}

test('without PostgreSQL calls are a 503, no process ends, and an interrupted import leaves nothing behind', async () => {
  const listId = await givenList(stack);
  const watched = watchContacts();
  const before = await countContacts();
  const pids = services.map((name) => stack.processes.pid(name));
  const contacts = Array.from({ length: 10_000 }, (_, at) => ({
    email: `half${at}.${listId}@example.com`,
  }));
  const body = { workspace_id: stack.workspaceId, contacts, subscribe_to_lists: [listId] };
  const importing = stack.call('contacts.import', body);
  await sleep(300);
  await stack.processes.without(['postgres'], async () => {
    const { status } = await importing;
    expect([200, 503]).toContain(status);
    for (let asked = 0; asked < 3; asked += 1) {
      const query = { workspace_id: stack.workspaceId };
      const answer = await stack.call('broadcasts.list', undefined, { query });
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      await sleep(1_000);
    }
  });
  await stack.untilServing();
  expect(services.map((name) => stack.processes.pid(name))).toEqual(pids);
  const written = (await countContacts()) - before;
  expect([0, 10_000]).toContain(written);
  expect(await watched).toEqual(['SERVING', 'NOT_SERVING', 'SERVING']);
  expect(written).toBe((await importing).status === 200 ? 10_000 : 0);
}, 90_000);

test('after an outage of PostgreSQL a broadcast is sent as before', async () => {
  const { id } = await givenBroadcast(stack, 50);
  await stack.processes.without(['postgres'], () => sleep(2_000));
  await stack.untilServing();
  await sendNow(stack, id);
  await untilStatus(stack, id, 'sent', { withinMs: 60_000 });
}, 90_000);
