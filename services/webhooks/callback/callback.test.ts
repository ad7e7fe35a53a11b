import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signerOf } from '#lib/keys/webhook-signature.ts';
import { createEgress } from '#lib/outside/egress.ts';
import type { OutsideAddress } from '#lib/outside/names/target.ts';
import { certificate } from '../../../test/certificate.ts';
import { givenEndpoint, urlOf } from '../test/given-endpoint.ts';
import { type Callback, sendCallback } from './callback.ts';

const egress = createEgress({ allow: ['127.0.0.0/8'], dnsServers: [] });
afterAll(() => egress.close());

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const callback = {
  sign: signerOf(secret),
  workspaceId: 'acme',
  id: '11111111-2222-3333-4444-555555555555',
  type: 'contact.created',
  data: '{"contact": {"name": "Zoë 日本 🎉", "number": 1.10}}',
  timestamp: '2030-01-01T12:00:00.123456Z',
  attempt: 3,
};

const send = (url: string, over: Partial<Callback> = {}, timeoutMs = 10_000) =>
  sendCallback(egress, { ...callback, url, ...over }, { now: new Date(), timeoutMs });

const sendTo = async (answer: RequestListener, timeoutMs?: number) =>
  send(await urlOf(createServer(answer)), {}, timeoutMs);

/** A server that writes bytes, whatever it is asked. */
async function givenBytes(serve: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => serve(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('sends a signed body with the data as they are', async () => {
  const endpoint = await givenEndpoint();
  expect(await send(endpoint.url)).toEqual({
    status: 200,
    body: 'thanks',
    error: null,
    retryAfterMs: 0,
  });
  const [{ headers, body } = { headers: {}, body: '' }] = endpoint.received;
  expect(body).toContain('"data":{"contact": {"name": "Zoë 日本 🎉", "number": 1.10}}}');
  expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
    id: callback.id,
    type: 'contact.created',
    workspace_id: 'acme',
  });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Postrider-Webhooks/1',
    'webhook-id': callback.id,
    'postrider-attempt': '3',
    'content-length': `${Buffer.byteLength(body)}`,
  });
});

test.each([199 + 1, 201, 204, 299])('the status %i is a success', async (status) => {
  expect(await sendTo((_, answer) => answer.writeHead(status).end())).toMatchObject({
    status,
    error: null,
  });
});

test.each([301, 302, 307, 308, 400, 410, 429, 500, 503])(
  'the status %i is a failure, and nothing is followed',
  async (status) => {
    let followed = 0;
    const target = await givenEndpoint(() => {
      followed += 1;
      return 200;
    });
    const answer = await sendTo((_, reply) =>
      reply.writeHead(status, { location: target.url }).end('no'),
    );
    expect(answer).toMatchObject({ status, body: 'no', error: `HTTP ${status}` });
    expect(followed).toBe(0);
  },
);

const answers = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nthanks';

test.each([
  ['100 Continue', ['HTTP/1.1 100 Continue\r\n\r\n', answers]],
  ['100 Continue in one piece with the answer', [`HTTP/1.1 100 Continue\r\n\r\n${answers}`]],
  ['100 Continue in pieces', ['HTT', 'P/1.1 100 Cont', 'inue\r\n', '\r\n', answers]],
  [
    'several',
    ['HTTP/1.1 102 Processing\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n', answers],
  ],
])('an unrequested interim response is skipped: %s', async (_, pieces) => {
  const server = createTcpServer((socket) => {
    socket.on('data', async (request) => {
      if (!`${request}`.startsWith('POST')) return;
      for (const piece of pieces) {
        socket.write(piece);
        await sleep(10);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const success = { status: 200, body: 'thanks', error: null };
  expect(await send(url)).toMatchObject(success);
  expect(await send(url)).toMatchObject(success);
});

test.each([
  ['120', 120_000],
  [' 5 ', 5_000],
  ['-5', 0],
  ['soon', 0],
  ['1.5', 0],
  ['99999999999', 0],
])('Retry-After: %s', async (value, expected) => {
  const answer = await sendTo((_, reply) => reply.writeHead(503, { 'retry-after': value }).end());
  expect(answer.retryAfterMs).toBe(expected);
});

test('Retry-After may be a date', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const answer = await sendTo((_, reply) => reply.writeHead(503, { 'retry-after': date }).end());
  expect(answer.retryAfterMs).toBeGreaterThan(3_500_000);
  expect(answer.retryAfterMs).toBeLessThanOrEqual(3_600_000);
});

test.each([
  ['a NUL', Buffer.from('a\0b'), 'a\uFFFDb'],
  ['broken UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\uFFFDb'],
  ['a character that is cut', Buffer.from(`${'x'.repeat(1_022)}日本`), 'x'.repeat(1_022)],
  ['exactly 1 KiB', Buffer.from('é'.repeat(512)), 'é'.repeat(512)],
  ['a body of 50 KiB', Buffer.alloc(50_000, 'y'), 'y'.repeat(1_024)],
])('keeps %s as valid text', async (_, bytes, text) => {
  expect((await sendTo((_, reply) => reply.end(bytes))).body).toBe(text);
});

test('connections are used again after an answer of up to 64 KiB', async () => {
  const ports = new Set<number | undefined>();
  const url = await urlOf(
    createServer((request, reply) => {
      ports.add(request.socket.remotePort);
      reply.end('x'.repeat(60_000));
    }),
  );
  for (let count = 0; count < 10; count += 1) await send(url);
  // One is free again only a moment after its answer.
  expect(ports.size).toBeLessThanOrEqual(2);
});

test('an endless body ends after its beginning, and its status counts', async () => {
  const closed = Promise.withResolvers<void>();
  const answer = await sendTo((_, reply) => {
    const write = () => {
      while (reply.write('x'.repeat(16_384)));
    };
    reply.on('drain', write).on('close', closed.resolve);
    write();
  });
  expect(answer).toMatchObject({ status: 200, error: null, body: 'x'.repeat(1_024) });
  await closed.promise;
});

test('a bomb of gzip is not unpacked', async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  const answer = await sendTo((_, reply) =>
    reply.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  );
  expect(answer).toMatchObject({ status: 200, error: null });
  expect(answer.body?.length).toBeLessThanOrEqual(1_024);
});

test.each<[string, RequestListener]>([
  ['never answers', () => {}],
  [
    'drips its body',
    (_, reply) => {
      const writing = setInterval(() => reply.write('x'), 20);
      reply.on('close', () => clearInterval(writing));
    },
  ],
])('an endpoint that %s fails when its time is over', async (_, answer) => {
  expect(await sendTo(answer, 200)).toEqual({
    status: null,
    body: null,
    error: 'no answer within 0.2 s',
    retryAfterMs: 0,
  });
});

test.each<[string, (socket: Socket) => void, string]>([
  ['closes the connection early', (socket) => socket.destroy(), 'connection lost'],
  [
    'closes it within the body',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
    'connection lost',
  ],
  [
    'answers with garbage',
    (socket) => socket.end('\x00\xff garbage\r\n\r\n'),
    'its answer is not HTTP',
  ],
])('an endpoint that %s is a failure', async (_, serve, error) => {
  expect(await send(await givenBytes(serve))).toEqual({
    status: null,
    body: null,
    error,
    retryAfterMs: 0,
  });
});

test('a refused connection is a failure', async () => {
  expect((await send('http://127.0.0.1:1/')).error).toBe('connection refused');
});

test('an untrusted certificate is a failure', async () => {
  const url = await urlOf(
    createSecureServer(certificate, (_, reply) => reply.end()),
    'https',
  );
  expect(await send(url)).toMatchObject({ status: null, error: 'its TLS can not be trusted' });
});

test.each(['http://10.0.0.1/', 'http://[::1]/', 'https://169.254.169.254/latest'])(
  'a callback to %s is refused when it connects',
  async (url) => {
    expect(await send(url)).toMatchObject({
      status: null,
      error: 'the host is not an address that may be called; EGRESS_ALLOW opens private ranges',
    });
  },
);

test('a name is called at the address that was checked, whatever it resolves to a moment later', async () => {
  const addresses = ['127.0.0.1', '10.0.0.1'];
  let asked = 0;
  const resolve = async (): Promise<OutsideAddress[]> => {
    const address = addresses[Math.min(asked, 1)] ?? '';
    asked += 1;
    return [{ address, family: 4 }];
  };
  const rebound = createEgress(
    { allow: ['127.0.0.0/8'], dnsServers: [] },
    { resolve, mailHosts: async () => [], close: () => {} },
  );
  const endpoint = await givenEndpoint();
  const url = endpoint.url.replace('127.0.0.1', 'rebind.example');
  const sendIt = () => sendCallback(rebound, { ...callback, url }, { now: new Date() });
  expect(await sendIt()).toMatchObject({ status: 200 });
  // The connection is kept; a new one is checked anew.
  expect(asked).toBe(1);
  const other = url.replace('rebind', 'other');
  expect(
    await sendCallback(rebound, { ...callback, url: other }, { now: new Date() }),
  ).toMatchObject({
    error: 'the host is not an address that may be called; EGRESS_ALLOW opens private ranges',
  });
  await rebound.close();
});

test('no callback waits for a connection', async () => {
  const held = Promise.withResolvers<number>();
  const endpoint = await givenEndpoint(() => held.promise);
  const sends = Array.from({ length: 100 }, () => send(endpoint.url));
  while (endpoint.received.length < 100) await new Promise((done) => setTimeout(done, 5));
  held.resolve(200);
  for (const answer of await Promise.all(sends)) expect(answer.status).toBe(200);
});
