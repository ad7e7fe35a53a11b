import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { Code, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { newInstallation } from '../../../deploy/keys/installation.ts';
import { until } from '../../../test/stack/until.ts';
import { keyringOfAll } from '../../test/all-keys.ts';
import {
  authorization,
  closeAll,
  givenWait,
  options,
  request,
  seen,
  serveObedient,
  transports,
} from '../../test/obedient-service.ts';
import { connectTo, connectToService } from '../client/client.ts';
import { serve } from './serve.ts';

let port: number;
beforeEach(async () => {
  port = (await serveObedient()).port;
});
afterAll(closeAll);

const otherClients: Record<string, (baseUrl: string) => Transport> = {
  lean: (baseUrl) => connectTo(new URL(baseUrl).host),
  Connect: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2', nodeOptions }),
  gRPC: (baseUrl) => createGrpcTransport({ baseUrl, nodeOptions }),
  'gRPC-Web': (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '2', nodeOptions }),
};
// Else the client breaks its own connection off.
const nodeOptions = { maxSessionMemory: 512 };

test.each(Object.entries(otherClients))(
  'a call by %s without a token is refused while its message is still on its way',
  async (_, transport) => {
    const other = createClient(AudienceService, transport(`http://127.0.0.1:${port}`));
    const asked = other.listAudience(request('x'.repeat(15_000_000)));
    await expect(asked).rejects.toMatchObject({ code: Code.Unauthenticated });
  },
);

test.each(Object.entries(otherClients))(
  'a message by %s to an operation without a token is at most half a MiB',
  async (_, transport) => {
    const other = createClient(SubscriptionService, transport(`http://127.0.0.1:${port}`));
    const email = (sizeBytes: number) => ({ email: 'x'.repeat(sizeBytes) });
    const asked = other.subscribe({ workspaceId: 'w1', contact: email(512 * 1024) });
    await expect(asked).rejects.toMatchObject({ code: Code.ResourceExhausted });
    const smaller = other.subscribe({ workspaceId: 'w1', contact: email(511 * 1024) });
    await expect(smaller).rejects.toMatchObject({ code: Code.InvalidArgument });
  },
);

test('an empty message arrives, also while the token is still being verified', async () => {
  const installation = newInstallation();
  const service = await serve(
    {
      ...options,
      keyring: keyringOfAll('gateway', installation),
      services: [WorkspaceService],
      routes: (router) => router.service(WorkspaceService, { listWorkspaces: () => ({}) }),
      isReady: async () => true,
    },
    { host: '127.0.0.1', port: 0 },
  );
  const fresh = keyringOfAll('gateway', installation);
  const transport = connectToService([`127.0.0.1:${service.port}`], {
    keyring: fresh,
  });
  const answer = createClient(WorkspaceService, transport).listWorkspaces({}, { timeoutMs: 2_000 });
  expect(await answer.finally(service.drain)).toMatchObject({ workspaces: [] });
});

/** Starts a call whose message never ends. */
async function openCalls(count: number, more: Record<string, string> = {}) {
  const session = connect(`http://127.0.0.1:${port}`, { peerMaxConcurrentStreams: 10_000 });
  session.on('error', () => {});
  await once(session, 'connect');
  const headers = {
    ':method': 'POST',
    ':path': `/${AudienceService.typeName}/ListAudience`,
    'content-type': 'application/proto',
    authorization: await authorization(),
    ...more,
  };
  const streams = Array.from({ length: count }, () => session.request(headers));
  for (const stream of streams) stream.on('error', () => {});
  return { session, streams };
}

const isRefused = (stream: ClientHttp2Stream) =>
  stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;

/** Resolves when the server has received everything that was sent before. */
const settled = (session: ClientHttp2Session) =>
  new Promise<void>((done, fail) => session.ping((error) => (error ? fail(error) : done())));

/** Whether another client is served now. */
async function isAnswered(): Promise<string> {
  const other = createClient(AudienceService, transports.lean(port));
  return other.listAudience(request('other')).then(
    () => 'yes',
    (error: Error) => error.message,
  );
}

test('a service has 4,096 streams; more are refused until some end', async () => {
  const opened = await Promise.all([1, 2, 3, 4, 5].map(() => openCalls(1_000)));
  const streams = opened.flatMap((each) => each.streams);
  const refused = () => streams.filter(isRefused).length;
  await until('904 are refused', async () => refused() === 5_000 - 4_096, { withinMs: 10_000 });
  expect(await isAnswered()).toBe(
    '[unavailable] postrider.contacts.v1.AudienceService is not available',
  );
  for (const { session } of opened) session.destroy();
  await until('streams are free', async () => (await isAnswered()) === 'yes');
});

test('a client that opens streams only to reset them is cut off', async () => {
  const { session } = await openCalls(0);
  const before = seen.length;
  while (!session.closed && !session.destroyed) {
    session
      .request({ ':path': '/x' })
      .on('error', () => {})
      .close(constants.NGHTTP2_CANCEL);
    await immediate();
  }
  expect(seen.length).toBe(before);
  expect(await isAnswered()).toBe('yes');
});

test.each([
  ['32 KiB', { 'x-large': 'x'.repeat(33_000) }],
  ['128 fields', Object.fromEntries(Array.from({ length: 140 }, (_, at) => [`x-${at}`, 'x']))],
])('a call whose headers have more than %s reaches no operation', async (_, headers) => {
  const url = `http://127.0.0.1:${port}`;
  const session = connect(url);
  session.on('error', () => {});
  const before = seen.length;
  const call = session.request({
    ':method': 'POST',
    ':path': `/${AudienceService.typeName}/ListAudience`,
    'content-type': 'application/proto',
    authorization: await authorization(),
    ...headers,
  });
  const statuses: unknown[] = [];
  call.on('response', (answer) => statuses.push(answer[':status']));
  call
    .on('error', () => {})
    .resume()
    .end();
  await new Promise((done) => call.once('close', done));
  expect(statuses).toEqual([]);
  expect(seen.length).toBe(before);
  session.destroy();
});

test('a connection of a service is not ended for new ones, however long it is idle', async () => {
  const limits = { perAddressMax: 4, idleMaxMs: 200 };
  ({ port } = await serveObedient(0, { serverLimits: limits }));
  const known = await openCalls(0);
  const call = known.session.request({
    ':method': 'POST',
    ':path': `/${AudienceService.typeName}/ListAudience`,
    'content-type': 'application/proto',
    authorization: await authorization(),
  });
  call
    .on('error', () => {})
    .resume()
    .end();
  await once(call, 'close');
  const idle = Array.from({ length: 10 }, () => connectTcp(port, '127.0.0.1'));
  await Promise.all(idle.map((socket) => once(socket.on('error', () => {}).resume(), 'close')));
  await settled(known.session);
  known.session.destroy();
});

test('a message that does not end is DeadlineExceeded', async () => {
  const { session, streams } = await openCalls(1, { 'connect-timeout-ms': '100' });
  const [headers] = await once(streams[0] as ClientHttp2Stream, 'response');
  expect(headers[':status']).toBe(504);
  session.destroy();
});

test('pings are answered while a call waits', async () => {
  const { name, begun } = givenWait();
  const leave = new AbortController();
  const client = createClient(AudienceService, transports.stock(port));
  const waits = client.listAudience(request(name), { signal: leave.signal });
  await begun;
  const { session } = await openCalls(0);
  for (let at = 0; at < 100; at += 1) await settled(session);
  leave.abort();
  await expect(waits).rejects.toMatchObject({ code: Code.Canceled });
  session.destroy();
});
