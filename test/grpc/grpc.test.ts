import { resolve } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { Health, HealthCheckResponse_ServingStatus } from '#gen/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '#gen/grpc/reflection/v1/reflection_pb.ts';
import { ServerReflection as ServerReflectionAlpha } from '#gen/grpc/reflection/v1alpha/reflection_pb.ts';
import { unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';

const stack = borrowedStack();

type Method = (
  request: object,
  metadata: grpc.Metadata,
  options: grpc.CallOptions,
  done: (error: grpc.ServiceError | null, answer: Record<string, unknown>) => void,
) => void;

const includeDirs = [resolve(import.meta.dirname, '../../proto')];

/** A call by a stock gRPC client, from nothing but the proto files. */
function call(
  path: 'contacts' | 'messages',
  service: string,
  method: string,
  request: object,
  headers: Record<string, string> = { authorization: `Bearer ${stack.settings.TOKEN}` },
): Promise<Record<string, unknown>> {
  const options = { includeDirs, keepCase: true, defaults: true };
  const definition = loadSync(`postrider/${path}/v1/${path}.proto`, options);
  const Service = definition[`postrider.${path}.v1.${service}`] as grpc.ServiceDefinition;
  const Client = grpc.makeClientConstructor(Service, service);
  const address = stack.settings[`${path.toUpperCase()}_GRPC_ADDR`] ?? '';
  const client = new Client(address, grpc.credentials.createInsecure(), {
    'grpc.max_send_message_length': -1,
  });
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise<Record<string, unknown>>((done, fail) => {
    const start = client[method] as Method;
    start.call(client, request, metadata, {}, (error, answer) =>
      error ? fail(error) : done(answer),
    );
  }).finally(() => client.close());
}

const key = () => ({ workspace_id: stack.workspaceId });

test('a stock gRPC client with an API key writes and reads contacts directly', async () => {
  const email = `${unique('grpc')}@example.com`;
  const contact = { email, first_name: 'Ada' };
  expect(await call('contacts', 'ContactService', 'UpsertContact', { ...key(), contact })).toEqual({
    email,
    action: 'create',
  });
  const found = await call('contacts', 'ContactService', 'GetContactByEmail', { ...key(), email });
  expect(found).toMatchObject({ contact: { email, first_name: 'Ada' } });
});

test('a gRPC error has the code and the reason', async () => {
  const request = { ...key(), email: 'nobody@example.com' };
  await expect(
    call('contacts', 'ContactService', 'GetContactByEmail', request),
  ).rejects.toMatchObject({
    code: grpc.status.NOT_FOUND,
  });
  await expect(
    call('contacts', 'ContactService', 'GetContactByEmail', key()),
  ).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT, details: 'email is required' });
});

const batch = () => ({
  ...key(),
  broadcast_id: 'b1',
  plan: { template_id: 't', template_version: 1, integration_id: 'i', list_id: 'l' },
  emails: ['a@example.com'],
});

test('an internal RPC is refused without a token, with a forged one, and with an API key', async () => {
  const send = (headers?: Record<string, string>) =>
    call('messages', 'BroadcastSendService', 'SendBatch', batch(), headers);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { type: 'service', sub: 'broadcasts', exp: 4_000_000_000 };
  const unsigned = `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
  const forged: Record<string, string>[] = [{}, { authorization: `Bearer ${unsigned}` }];
  for (const headers of forged) {
    await expect(send(headers)).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
  }
  await expect(send()).rejects.toMatchObject({
    code: grpc.status.PERMISSION_DENIED,
    details: 'only other services may call this',
  });
});

test('metadata that claims another workspace, user or service changes nothing', async () => {
  const spoofed = {
    authorization: `Bearer ${stack.settings.TOKEN}`,
    workspace_id: stack.workspaceId,
    'x-workspace-id': stack.workspaceId,
    'x-user-id': 'root',
    'x-service': 'broadcasts',
  };
  const request = { workspace_id: 'foreign' };
  await expect(
    call('contacts', 'ContactService', 'CountContacts', request, spoofed),
  ).rejects.toMatchObject({
    code: grpc.status.PERMISSION_DENIED,
    details: 'user is not a member of the workspace',
  });
});

test('a message of 100 MB is RESOURCE_EXHAUSTED, and the service keeps working', async () => {
  const contact = { email: 'big@example.com', first_name: 'x'.repeat(100_000_000) };
  await expect(
    call('contacts', 'ContactService', 'UpsertContact', { ...key(), contact }),
  ).rejects.toMatchObject({ code: grpc.status.RESOURCE_EXHAUSTED });
  expect(await call('contacts', 'ContactService', 'CountContacts', key())).toHaveProperty(
    'total_contacts',
  );
}, 30_000);

test('a call without a deadline does not wait forever', async () => {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('lock table contacts.contacts in access exclusive mode');
    await expect(call('contacts', 'ContactService', 'CountContacts', key())).rejects.toMatchObject({
      code: grpc.status.DEADLINE_EXCEEDED,
    });
  } finally {
    await client.end();
  }
}, 40_000);

const addresses = () =>
  Object.entries(stack.settings)
    .filter(([name]) => name.endsWith('_GRPC_ADDR'))
    .map(([, address]) => createGrpcTransport({ baseUrl: `http://${address}` }));

test('every service reports its health by grpc.health.v1 without a token', async () => {
  for (const transport of addresses()) {
    const { status } = await createClient(Health, transport).check({});
    expect(status).toBe(HealthCheckResponse_ServingStatus.SERVING);
  }
  expect(addresses()).toHaveLength(6);
});

test.each([
  ['v1', ServerReflection],
  ['v1alpha', ServerReflectionAlpha],
])('every service describes itself by reflection %s', async (_, service) => {
  const names: string[] = [];
  for (const transport of addresses()) {
    const client = createClient(service as typeof ServerReflection, transport);
    const asked = (async function* () {
      yield { messageRequest: { case: 'listServices' as const, value: '' } };
    })();
    for await (const { messageResponse } of client.serverReflectionInfo(asked)) {
      if (messageResponse.case !== 'listServicesResponse') throw new Error('no list came');
      names.push(...messageResponse.value.service.map(({ name }) => name));
    }
  }
  expect(names).toEqual(
    expect.arrayContaining([
      'postrider.workspaces.v1.WorkspaceService',
      'postrider.contacts.v1.ContactService',
      'postrider.templates.v1.TemplateService',
      'postrider.broadcasts.v1.BroadcastService',
      'postrider.messages.v1.MessageService',
      'grpc.health.v1.Health',
    ]),
  );
});
