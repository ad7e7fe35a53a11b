import { once } from 'node:events';
import { connect, constants, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  Code,
  type ConnectError,
  createClient,
  type HandlerContext,
  type Transport,
} from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import * as grpc from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ErrorInfoSchema, RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { Health } from '#gen/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '#gen/grpc/reflection/v1/reflection_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import {
  ContactService,
  CountContactsRequestSchema,
  CountContactsResponseSchema,
} from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { noLimits, RequestLimits } from '#lib/limits/request-limits.ts';
import { createLog } from '#lib/log.ts';
import { serviceToken } from '#lib/rpc/client/client.ts';
import { clientAddressHeader, clientAddressTokenHeader } from '#lib/rpc/wire.ts';
import { registry } from '#lib/telemetry/metrics.ts';
import { until } from '../../test/stack/until.ts';
import { contracts } from '../api/contracts.ts';
import { requireToken } from '../api/token.ts';
import { keyring, startService, type TestService, tokenFor } from '../testing.ts';
import { type GrpcGateway, type GrpcOptions, serveGrpc } from './server.ts';

type Answer = (context: HandlerContext) => Promise<{ totalContacts: number }>;

let answer: Answer;
let seen: Headers[];
let service: TestService;
let gateway: GrpcGateway;

const open = (servicePort: number, over: Partial<GrpcOptions> = {}) =>
  serveGrpc(
    {
      contracts,
      addresses: new Map([['contacts', [`127.0.0.1:${servicePort}`]]]),
      clientTls: undefined,
      tls: undefined,
      authorization: serviceToken(keyring),
      requireToken: (given) => requireToken(keyring.verifyToken, given),
      requestLimits: new RequestLimits(noLimits),
      reflection: true,
      trustedProxies: [],
      log: createLog('gateway', 'silent'),
      ...over,
    },
    { host: '127.0.0.1', port: 0 },
  );

beforeEach(async () => {
  seen = [];
  answer = async () => ({ totalContacts: 7 });
  service = await startService((router) => {
    router.service(ContactService, {
      countContacts: (_, context) => {
        seen.push(context.requestHeader);
        return answer(context);
      },
    });
    router.service(SubscriptionService, {
      subscribe: (_, context) => {
        seen.push(context.requestHeader);
        return {};
      },
    });
    router.service(AudienceService, { listAudience: () => ({}) });
  });
  gateway = await open(service.port);
});

afterEach(async () => {
  await gateway.drain(0);
  await service.stop();
});

const over = (port: number): Transport =>
  createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
const contacts = () => createClient(ContactService, over(gateway.port));
const asUser = async (headers: Record<string, string> = {}) => ({
  headers: { authorization: `Bearer ${await tokenFor('ada')}`, ...headers },
});
const request = { workspaceId: 'w1' };

test('a call reaches its service with the caller’s token and address, and its answer comes back', async () => {
  const spoofed = await asUser({ [clientAddressHeader]: '9.9.9.9' });
  expect(await contacts().countContacts(request, spoofed)).toMatchObject({ totalContacts: 7 });
  const [headers] = seen;
  expect(headers?.get('authorization')).toBe(spoofed.headers.authorization);
  expect(headers?.get(clientAddressHeader)).toBe('127.0.0.1');
  expect(headers?.get(clientAddressTokenHeader)).toMatch(/^Bearer /);
});

test('a stock gRPC client is served, with status and details of errors', async () => {
  answer = async () => {
    throw refusal('CONTACT_NOT_FOUND', 'Contact not found');
  };
  const client = new grpc.Client(`127.0.0.1:${gateway.port}`, grpc.credentials.createInsecure());
  const metadata = new grpc.Metadata();
  metadata.set('authorization', `Bearer ${await tokenFor('ada')}`);
  const failed = new Promise((done, fail) =>
    client.makeUnaryRequest(
      `/${ContactService.typeName}/CountContacts`,
      (message) => Buffer.from(toBinary(CountContactsRequestSchema, message)),
      (bytes) => fromBinary(CountContactsResponseSchema, bytes),
      create(CountContactsRequestSchema, request),
      metadata,
      (error, found) => (error ? fail(error) : done(found)),
    ),
  );
  await expect(failed).rejects.toMatchObject({ code: 5, details: 'Contact not found' });
  client.close();
  const again = contacts().countContacts(request, await asUser());
  const error = await again.catch((each) => each);
  expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: 'CONTACT_NOT_FOUND' }]);
});

test('calls are measured by their code, and carry on the trace of their caller', async () => {
  registry.resetMetrics();
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  await contacts().countContacts(request, await asUser({ traceparent }));
  expect(seen[0]?.get('traceparent')).toBe(traceparent);
  answer = async () => {
    throw refusal('CONTACT_NOT_FOUND', 'Contact not found');
  };
  await contacts()
    .countContacts(request, await asUser())
    .catch(() => {});
  await contacts()
    .countContacts(request, {})
    .catch(() => {});
  const count = async (code: string) => {
    const line = new RegExp(`grpc_server_handling_seconds_count{.*CountContacts.*"${code}"} (.+)`);
    return line.exec(await registry.metrics())?.[1];
  };
  for (const code of ['OK', 'NotFound', 'Unauthenticated']) {
    await until(`${code} is counted`, async () => (await count(code)) === '1');
  }
});

test('an operation without a token gets the gateway’s own', async () => {
  const subscriptions = createClient(SubscriptionService, over(gateway.port));
  await subscriptions.subscribe(request, { headers: { authorization: 'Bearer mine' } });
  const token = seen[0]?.get('authorization')?.split(' ')[1] ?? '';
  expect(await keyring.verifyToken(token)).toMatchObject({ type: 'service', subject: 'gateway' });
});

test.each([
  ['no token', {}],
  ['a wrong token', { authorization: 'Bearer x' }],
])('a call with %s is Unauthenticated and reaches no service', async (_, headers) => {
  const call = contacts().countContacts(request, { headers });
  await expect(call).rejects.toMatchObject({ code: Code.Unauthenticated });
  expect(seen).toEqual([]);
});

test('a stolen token of a service opens nothing', async () => {
  const claims = { type: 'service', subject: 'gateway', sessionId: '' } as const;
  const authorization = `Bearer ${await keyring.signToken(claims, 60)}`;
  const call = contacts().countContacts(request, { headers: { authorization } });
  await expect(call).rejects.toMatchObject({ code: Code.Unauthenticated });
  const internal = createClient(AudienceService, over(gateway.port));
  const asked = internal.listAudience({}, { headers: { authorization } });
  await expect(asked).rejects.toMatchObject({ code: Code.Unimplemented });
});

test('other protocols are told that this port has gRPC', async () => {
  const baseUrl = `http://127.0.0.1:${gateway.port}`;
  const transport = createConnectTransport({ baseUrl, httpVersion: '2' });
  const call = createClient(ContactService, transport).countContacts(request, await asUser());
  await expect(call).rejects.toThrow('415');
});

test('a service that is away is Unavailable', async () => {
  await service.stop();
  const call = contacts().countContacts(request, await asUser());
  await expect(call).rejects.toMatchObject({ code: Code.Unavailable });
});

test('a call that its client gives up ends at the service', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<AbortSignal>();
  answer = ({ signal }) => {
    begin(signal);
    return new Promise(() => {});
  };
  const leave = new AbortController();
  const call = contacts().countContacts(request, { ...(await asUser()), signal: leave.signal });
  const signal = await begun;
  leave.abort();
  await expect(call).rejects.toMatchObject({ code: Code.Canceled });
  if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done));
});

test('a client that is refused early may send the rest of its message', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  const status = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '8' };
  server.on('stream', (stream) =>
    stream.on('error', () => {}).respond(status, { endStream: true }),
  );
  await once(server, 'listening');
  const other = await open((server.address() as AddressInfo).port);
  const session = connect(`http://127.0.0.1:${other.port}`);
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${SubscriptionService.typeName}/Subscribe`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const closed = once(stream.resume(), 'close');
  const refused = once(stream, 'response');
  stream.write(Buffer.alloc(100_000));
  expect((await refused)[0]['grpc-status']).toBe('8');
  await new Promise((done) => session.ping(done));
  if (!stream.closed) stream.end(Buffer.alloc(100_000));
  await closed;
  expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  session.destroy();
  await other.drain(0);
  server.close();
});

test('one client has so many calls at once, and may call again when they end', async () => {
  const small = await open(service.port, { callsPerClientMax: 2 });
  const { promise: go, resolve: finish } = Promise.withResolvers<{ totalContacts: number }>();
  answer = () => go;
  const client = createClient(ContactService, over(small.port));
  const options = await asUser();
  const waiting = [1, 2].map(() => client.countContacts(request, options));
  const refused = await Promise.race([
    client.countContacts(request, options).catch((error) => error.code),
    ...waiting,
  ]);
  expect(refused).toBe(Code.ResourceExhausted);
  finish({ totalContacts: 1 });
  await Promise.all(waiting);
  expect(await client.countContacts(request, options)).toMatchObject({ totalContacts: 1 });
  await small.drain(0);
});

test('a key has its limit of requests, and so has an address', async () => {
  const requestLimits = new RequestLimits({ key: 1, workspace: 0, address: 3 }, () => 0);
  const small = await open(service.port, { requestLimits });
  const client = createClient(ContactService, over(small.port));
  const codes: unknown[] = [];
  const refusals: ConnectError[] = [];
  for (const user of ['ada', 'ada', 'ada', 'bob', 'bob', 'eve', 'eve']) {
    const headers = { authorization: `Bearer ${await tokenFor(user)}` };
    codes.push(
      await client.countContacts(request, { headers }).then(
        () => 'ok',
        (error: ConnectError) => {
          refusals.push(error);
          return error.code;
        },
      ),
    );
  }
  const refused = Code.ResourceExhausted;
  expect(codes).toEqual(['ok', 'ok', refused, 'ok', 'ok', 'ok', refused]);
  for (const error of refusals) {
    expect(error.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: expect.any(Object) }]);
    expect(error.metadata.get('ratelimit')).toContain('r=0');
  }
  await small.drain(0);
});

test('health and reflection are answered by the gateway, with the services it passes on', async () => {
  expect(await createClient(Health, over(gateway.port)).check({})).toMatchObject({ status: 1 });
  const asked = (async function* () {
    yield { messageRequest: { case: 'listServices' as const, value: '' } };
  })();
  const client = createClient(ServerReflection, over(gateway.port));
  for await (const { messageResponse } of client.serverReflectionInfo(asked)) {
    if (messageResponse.case !== 'listServicesResponse') throw new Error('no list came');
    const names = messageResponse.value.service.map(({ name }) => name);
    expect(names).toContain(ContactService.typeName);
    expect(names).not.toContain(AudienceService.typeName);
  }
});
