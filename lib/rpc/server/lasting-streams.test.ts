import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, expect, test } from '@jest/globals';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '#gen/grpc/health/v1/health_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { until } from '../../../test/stack/until.ts';
import {
  authorization,
  closeAll,
  request,
  serveObedient,
  transports,
} from '../../test/obedient-service.ts';
import { streamLimits } from './lasting-streams.ts';

afterAll(closeAll);

const watch = '/grpc.health.v1.Health/Watch';
const reflect = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const reflectAlpha = '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo';
const count = '/postrider.contacts.v1.ContactService/CountContacts';

/** Opens gRPC streams on one connection whose messages never end. */
async function openStreams(port: number, path: string, streamsMax: number) {
  const session = connect(`http://127.0.0.1:${port}`, { peerMaxConcurrentStreams: 10_000 });
  session.on('error', () => {});
  await once(session, 'connect');
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc+proto' };
  const streams = Array.from({ length: streamsMax }, () => session.request(headers));
  for (const stream of streams) stream.on('error', () => {}).resume();
  return { session, streams };
}

const settled = (session: ClientHttp2Session) =>
  new Promise<void>((done, fail) => session.ping((error) => (error ? fail(error) : done())));

async function isAnswered(port: number): Promise<string> {
  const other = createClient(AudienceService, transports.lean(port));
  return other.listAudience(request('other')).then(
    () => 'yes',
    (error: Error) => error.message,
  );
}

test.each([watch, reflect, reflectAlpha])(
  'connections full of %s block no other calls',
  async (path) => {
    const { port } = await serveObedient();
    const opened = await Promise.all([1, 2, 3, 4, 5].map(() => openStreams(port, path, 1_000)));
    for (const { session } of opened) await settled(session);
    expect(await isAnswered(port)).toBe('yes');
    for (const { session } of opened) session.destroy();
  },
);

test('lasting streams are limited per connection and in all', async () => {
  const limits = { ...streamLimits, streamsMax: 3, perConnectionMax: 2 };
  const { port } = await serveObedient(0, { streamLimits: limits });
  const [one, two] = [await openStreams(port, watch, 4), await openStreams(port, reflect, 2)];
  const all = [...one.streams, ...two.streams];
  const refused = () =>
    all.filter(({ rstCode }) => rstCode === constants.NGHTTP2_REFUSED_STREAM).length;
  await until('three of six are refused', async () => refused() === 3, { withinMs: 5_000 });
  one.session.destroy();
  const health = createClient(Health, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));
  const isWatched = async () => {
    for await (const { status } of health.watch({})) return status === Status.SERVING;
    return false;
  };
  await until('a place is free', () => isWatched().catch(() => false), { withinMs: 5_000 });
  two.session.destroy();
});

test.each([watch, reflect])('a stream of %s ends at its maximum age', async (path) => {
  const limits = { ...streamLimits, ageMaxMs: 100 };
  const { port } = await serveObedient(0, { streamLimits: limits });
  const { session, streams } = await openStreams(port, path, 1);
  await until('it is closed', async () => streams.every(({ closed }) => closed), {
    withinMs: 5_000,
  });
  session.destroy();
});

test('a call by gRPC whose message does not arrive is ended', async () => {
  const limits = { ...streamLimits, messageMaxMs: 100 };
  const { port } = await serveObedient(0, { streamLimits: limits });
  const { session, streams } = await openStreams(port, '/grpc.health.v1.Health/Check', 1);
  await until('it is closed', async () => streams.every(({ closed }) => closed), {
    withinMs: 5_000,
  });
  session.destroy();
});

test('a connection has 100 streams, and 2,048 once a service has called on it', async () => {
  const { port } = await serveObedient();
  const { session } = await openStreams(port, count, 0);
  await settled(session);
  expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
  const known = session.request({
    ':method': 'POST',
    ':path': '/postrider.contacts.v1.AudienceService/ListAudience',
    'content-type': 'application/proto',
    authorization: await authorization(),
  });
  known.on('error', () => {}).resume();
  await until(
    'the client knows the limit',
    async () => session.remoteSettings.maxConcurrentStreams === 2_048,
  );
  session.destroy();
});
