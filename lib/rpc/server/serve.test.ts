import { once } from 'node:events';
import { connect } from 'node:net';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, expect, test } from '@jest/globals';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '#gen/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '#gen/grpc/reflection/v1/reflection_pb.ts';
import { ServerReflection as ServerReflectionAlpha } from '#gen/grpc/reflection/v1alpha/reflection_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { keyring, ownerEverywhere, serviceClaims } from '../../../test/setup/service.ts';
import { createLog } from '../../log.ts';
import { connectToService } from '../client/client.ts';
import { serve } from './serve.ts';

let stop: () => Promise<void>;
afterEach(() => stop());

/** A service whose one operation waits for `release`. */
async function givenService() {
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const state = { ready: true };
  const server = await serve(
    {
      services: [AudienceService],
      routes: (router) => {
        router.service(AudienceService, {
          async listAudience() {
            started.resolve();
            await released.promise;
            return { emails: ['done'] };
          },
        });
      },
      keyring,
      authorize: ownerEverywhere,
      demo: false,
      reflection: true,
      log: createLog('test', 'silent'),
      isReady: async () => state.ready,
    },
    { host: '127.0.0.1', port: 0 },
  );
  const address = `127.0.0.1:${server.port}`;
  stop = async () => {
    released.resolve();
    await server.drain();
  };
  return {
    state,
    server,
    started: started.promise,
    release: released.resolve,
    transport: createGrpcTransport({ baseUrl: `http://${address}` }),
    client: createClient(AudienceService, connectToService([address], { keyring })),
  };
}

const request = { workspaceId: 'w1', listId: 'l1', pageSize: 10 };
const name = 'postrider.contacts.v1.AudienceService';

test('health is SERVING, and NOT_SERVING while the database is down', async () => {
  const { transport, state } = await givenService();
  const health = createClient(Health, transport);
  for (const service of ['', name]) {
    expect((await health.check({ service })).status).toBe(Status.SERVING);
  }
  state.ready = false;
  for (const service of ['', name]) {
    expect((await health.check({ service })).status).toBe(Status.NOT_SERVING);
  }
});

test('health is unknown for a service of another process', async () => {
  const { transport } = await givenService();
  const asked = createClient(Health, transport).check({ service: 'elsewhere' });
  await expect(asked).rejects.toMatchObject({ code: Code.NotFound });
});

test('a watch of health reports when the database goes down and comes back', async () => {
  const { transport, state } = await givenService();
  const seen: Status[] = [];
  const leave = new AbortController();
  const watched = createClient(Health, transport).watch({}, { signal: leave.signal });
  for await (const { status } of watched) {
    seen.push(status);
    state.ready = status !== Status.SERVING;
    if (seen.length === 3) break;
  }
  leave.abort();
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING]);
});

test('a watch of health reports that the service drains, and does not delay it', async () => {
  const { transport, server } = await givenService();
  const seen: Status[] = [];
  let drained: Promise<void> | undefined;
  for await (const { status } of createClient(Health, transport).watch({})) {
    seen.push(status);
    drained ??= server.drain();
  }
  await drained;
  expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
});

test('a service that is retired serves on, and its health says that it goes', async () => {
  const { transport, client, server, release } = await givenService();
  server.retire();
  expect(await createClient(Health, transport).check({})).toMatchObject({
    status: Status.NOT_SERVING,
  });
  release();
  expect((await client.listAudience(request)).emails).toEqual(['done']);
});

test('a peer that does not disconnect delays a drain by at most ten seconds', async () => {
  const { server } = await givenService();
  const socket = connect(server.port, '127.0.0.1');
  await once(
    socket.on('error', () => {}),
    'connect',
  );
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
  await once(socket, 'readable');
  await server.drain();
  socket.destroy();
});

test('draining lets a call in flight end, and accepts no new one', async () => {
  const { client, server, started, release } = await givenService();
  const inFlight = client.listAudience(request);
  await started;
  const drained = server.drain();
  await expect(client.listAudience(request)).rejects.toMatchObject({ code: Code.Unavailable });
  release();
  expect((await inFlight).emails).toEqual(['done']);
  await drained;
});

test('a call past its deadline is DeadlineExceeded', async () => {
  const { client } = await givenService();
  const late = client.listAudience(request, { timeoutMs: 100 });
  await expect(late).rejects.toMatchObject({ code: Code.DeadlineExceeded });
});

test.each([
  ['gRPC', { 'grpc-timeout': '3600S' }],
  ['gRPC', { 'grpc-timeout': '99999999H' }],
  ['Connect', { 'connect-timeout-ms': '3600000' }],
  ['Connect', { 'connect-timeout-ms': '9999999999' }],
])('a call by %s with the deadline %j is answered', async (protocol, headers) => {
  const { server, release } = await givenService();
  release();
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const withDeadline: Interceptor = (next) => async (call) => {
    call.header.set('authorization', `Bearer ${await keyring.signToken(serviceClaims, 60)}`);
    for (const [key, value] of Object.entries(headers)) call.header.set(key, value);
    return next(call);
  };
  const interceptors = [withDeadline];
  const transport =
    protocol === 'gRPC'
      ? createGrpcTransport({ baseUrl, interceptors })
      : createConnectTransport({ baseUrl, httpVersion: '2', interceptors });
  const { emails } = await createClient(AudienceService, transport).listAudience(request);
  expect(emails).toEqual(['done']);
  const health = await createClient(Health, transport).check({});
  expect(health.status).toBe(Status.SERVING);
});

test('a request that breaks a rule of the contract names its field, before the operation runs', async () => {
  const { client } = await givenService();
  await expect(client.listAudience({ ...request, workspaceId: '' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'workspace_id is required',
  });
});

test('a request over 28 MiB is ResourceExhausted, and the next one is served', async () => {
  const { client, release } = await givenService();
  release();
  const huge = { ...request, listId: 'x'.repeat(29 * 1024 * 1024) };
  await expect(client.listAudience(huge)).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect((await client.listAudience(request)).emails).toEqual(['done']);
});

type Reflection = typeof ServerReflection;

test.each([
  ['v1', ServerReflection],
  ['v1alpha', ServerReflectionAlpha as unknown as Reflection],
])('reflection %s describes the services and their files', async (_, reflection) => {
  const { transport } = await givenService();
  const asked = [
    { messageRequest: { case: 'listServices' as const, value: '' } },
    { messageRequest: { case: 'fileContainingSymbol' as const, value: name } },
    { messageRequest: { case: 'fileContainingSymbol' as const, value: `${name}.ListAudience` } },
    {
      messageRequest: {
        case: 'fileByFilename' as const,
        value: 'postrider/options/v1/options.proto',
      },
    },
    { messageRequest: { case: 'fileContainingSymbol' as const, value: 'no.such.Thing' } },
  ];
  const answers: unknown[] = [];
  const requests = (async function* () {
    yield* asked;
  })();
  for await (const { messageResponse } of createClient(reflection, transport).serverReflectionInfo(
    requests,
  )) {
    const { case: kind, value } = messageResponse;
    if (kind === 'listServicesResponse') answers.push(value.service.map((each) => each.name));
    else if (kind === 'fileDescriptorResponse')
      for (const file of value.fileDescriptorProto)
        answers.push(fromBinary(FileDescriptorProtoSchema, file).name);
    else if (kind === 'errorResponse') answers.push(value.errorCode);
  }
  const audience = 'postrider/contacts/v1/audience.proto';
  expect(answers).toEqual([
    [name, 'grpc.health.v1.Health'],
    audience,
    audience,
    'postrider/options/v1/options.proto',
    Code.NotFound,
  ]);
});
