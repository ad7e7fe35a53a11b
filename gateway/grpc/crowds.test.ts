import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { Code, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { noLimits, RequestLimits } from '#lib/limits/request-limits.ts';
import { createLog } from '#lib/log.ts';
import { serviceToken } from '#lib/rpc/client/client.ts';
import { preface, resetCalls } from '../../test/attacks/frames.ts';
import { rapidResets } from '../../test/attacks/sockets.ts';
import { until } from '../../test/stack/until.ts';
import { contracts } from '../api/contracts.ts';
import { requireToken } from '../api/token.ts';
import { keyring, startService, type TestService, tokenFor } from '../testing.ts';
import { type GrpcGateway, type GrpcOptions, serveGrpc } from './server.ts';

let service: TestService;
let gateway: GrpcGateway;
let sockets: Socket[] = [];
let sessions: ClientHttp2Session[] = [];

beforeAll(async () => {
  service = await startService((router) => {
    router.service(ContactService, { countContacts: () => ({ totalContacts: 7 }) });
  });
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const session of sessions) session.destroy();
  [sockets, sessions] = [[], []];
  await gateway.drain(0);
});

afterAll(() => service.stop());

async function start(over: Partial<GrpcOptions> = {}) {
  gateway = await serveGrpc(
    {
      contracts,
      addresses: new Map([['contacts', [`127.0.0.1:${service.port}`]]]),
      clientTls: undefined,
      tls: undefined,
      authorization: serviceToken(keyring),
      requireToken: (given) => requireToken(keyring.verifyToken, given),
      requestLimits: new RequestLimits(noLimits),
      reflection: false,
      trustedProxies: [],
      log: createLog('gateway', 'silent'),
      ...over,
    },
    { host: '127.0.0.1', port: 0 },
  );
}

/** A connection that begins HTTP/2 and then does nothing. */
async function open(localAddress: string, text: string | Buffer = preface): Promise<Socket> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {}).resume();
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const openCount = () =>
  sockets.filter(({ closed, readableEnded }) => !closed && !readableEnded).length;

/** A call by another client. */
async function call() {
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${gateway.port}` });
  const headers = { authorization: `Bearer ${await tokenFor('ada')}` };
  return createClient(ContactService, transport).countContacts({ workspaceId: 'w1' }, { headers });
}

test('one address has 512 connections; more replace those that are idle the longest', async () => {
  await start();
  for (let each = 0; each < 600; each += 1) await open('127.0.0.2');
  await until('88 are ended', async () => openCount() === 512);
  expect(await call()).toMatchObject({ totalContacts: 7 });
});

test('connections beyond the limit of all replace idle ones, whatever their address', async () => {
  await start({ serverLimits: { max: 8 } });
  for (let each = 0; each < 20; each += 1) await open(`127.0.0.${10 + each}`);
  await until('12 are ended', async () => openCount() === 8);
  expect(await call()).toMatchObject({ totalContacts: 7 });
});

test('a connection without calls is ended after its idle time, and one with a call is not', async () => {
  await start({ serverLimits: { idleMaxMs: 300 } });
  const idle = await open('127.0.0.1');
  const gone = once(idle, 'close');
  const busy = connectHttp2(`http://127.0.0.1:${gateway.port}`);
  sessions.push(busy.on('error', () => {}));
  const watch = busy.request({
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Watch',
    'content-type': 'application/grpc',
  });
  watch
    .on('error', () => {})
    .resume()
    .write(Buffer.alloc(5));
  await gone;
  expect(busy.destroyed).toBe(false);
  const left = once(busy, 'close');
  watch.close();
  await left;
});

test('an idle connection is ended also if its client does not close its side', async () => {
  await start({ serverLimits: { idleMaxMs: 100 } });
  const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  socket
    .on('error', () => {})
    .resume()
    .write(preface);
  await once(socket, 'end');
  // Bytes that arrive after the end of the connection cause a reset.
  const writing = setInterval(() => socket.write(Buffer.alloc(1)), 50);
  await new Promise((done) => socket.once('close', done));
  clearInterval(writing);
});

test.each([
  ['sends nothing', Buffer.alloc(0)],
  ['sends part of a preface', preface.subarray(0, 20)],
])('a connection that %s is ended', async (_, text) => {
  await start({ serverLimits: { beginMaxMs: 300 } });
  const socket = await open('127.0.0.1', text);
  await once(socket, 'close');
});

const counted = `/${ContactService.typeName}/CountContacts`;

test('a connection that resets its calls is ended, and so is the next one of its address', async () => {
  await start();
  // Beyond 256 at once it may reset 20 a second, as many as a slow machine reads meanwhile.
  const flood = Buffer.concat([preface, resetCalls(counted, 2_000)]);
  for (let each = 0; each < 2; each += 1) {
    await once(await open('127.0.0.2', flood), 'close');
    expect(await call()).toMatchObject({ totalContacts: 7 });
  }
});

test('a connection that resets some calls goes on', async () => {
  await start();
  const socket = await open('127.0.0.2', Buffer.concat([preface, resetCalls(counted, 90)]));
  expect(await call()).toMatchObject({ totalContacts: 7 });
  expect(socket.readableEnded || socket.closed).toBe(false);
});

test('calls of others are answered beside rapid resets', async () => {
  await start();
  const medianMs = async () => {
    const timesMs: number[] = [];
    for (let each = 0; each < 60; each += 1) {
      const beganAtMs = performance.now();
      expect(await call()).toMatchObject({ totalContacts: 7 });
      timesMs.push(performance.now() - beganAtMs);
    }
    return timesMs.toSorted((a, b) => a - b)[30] ?? 0;
  };
  const quietMs = await medianMs();
  const attack = rapidResets(gateway.port, counted, 1);
  const besideMs = await medianMs();
  await attack.stop();
  expect(attack.tally.get(0)).toBeGreaterThan(0);
  // Unbounded resets keep a call waiting for seconds.
  expect(besideMs).toBeLessThan(Math.max(100, 10 * quietMs));
});

test.each([
  ['health', { ':path': '/grpc.health.v1.Health/Check', 'content-type': 'application/grpc' }],
  ['what is not served', { ':path': '/x/y', 'content-type': 'application/grpc' }],
  ['another protocol', { ':path': counted, 'content-type': 'application/json' }],
])('calls for %s count against the limit of their address', async (_, headers) => {
  await start({ requestLimits: new RequestLimits({ ...noLimits, address: 1 }, () => 0) });
  const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
  sessions.push(session.on('error', () => {}));
  const ask = async () => {
    const stream = session.request({ ':method': 'POST', ...headers });
    stream.resume().end(Buffer.alloc(5));
    const [answer] = await once(stream, 'response');
    return answer['grpc-status'];
  };
  const limited = String(Code.ResourceExhausted);
  const statuses = [await ask(), await ask(), await ask()];
  expect(statuses.map((status) => status === limited)).toEqual([false, false, true]);
});

test('a call with more than 16 KiB of headers is reset', async () => {
  await start();
  const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
  sessions.push(session.on('error', () => {}));
  const ask = async (sizeBytes: number) => {
    const stream = session.request({ ':path': '/x/y', 'x-large': 'x'.repeat(sizeBytes) });
    stream.on('error', () => {}).resume();
    await new Promise((done) => stream.once('close', done));
    return stream.rstCode;
  };
  // The first call of a connection comes before the client knows the limit.
  expect(await ask(17_000)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(await ask(15_000)).toBe(constants.NGHTTP2_NO_ERROR);
  expect(await ask(17_000)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
});

test('a message that does not end is ended', async () => {
  await start({ messageMaxMs: 200 });
  const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
  sessions.push(session.on('error', () => {}));
  const stream = session.request({
    ':method': 'POST',
    ':path': counted,
    'content-type': 'application/grpc',
    authorization: `Bearer ${await tokenFor('ada')}`,
  });
  stream
    .on('error', () => {})
    .resume()
    .write(Buffer.alloc(3));
  await once(stream, 'close');
});
