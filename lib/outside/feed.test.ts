import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { certificate } from '../../test/certificate.ts';
import { type FeedServer, startFeedServer } from '../../test/feed-server.ts';
import { createEgress } from './egress.ts';
import { askFeed } from './feed.ts';

const egress = createEgress({ allow: ['127.0.0.0/8'], dnsServers: [] });
let server: FeedServer;
beforeAll(async () => {
  server = await startFeedServer();
});
beforeEach(() => {
  server.requests.length = 0;
  server.behaviour = (_, response) => response.end('{}');
});
afterAll(async () => {
  await egress.close();
  await server.close();
});

const ask = (url = server.url, signal?: AbortSignal) =>
  askFeed(
    { egress },
    { url, headers: [] },
    { workspaceId: 'a', payload: { a: 1 }, ...(signal ? { signal } : {}) },
  );

test('a feed is called by a POST of JSON with the headers of its owner, which may replace ours', async () => {
  const headers = [
    { name: 'X-Key', value: 'secret' },
    { name: 'User-Agent', value: 'mine' },
  ];
  await askFeed({ egress }, { url: server.url, headers }, { workspaceId: 'a', payload: { a: 1 } });
  expect(server.requests).toMatchObject([
    {
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'x-key': 'secret',
        'user-agent': 'mine',
      },
      body: { a: 1 },
    },
  ]);
});

test('an answer has the time when it arrived', async () => {
  server.behaviour = (_, response) => response.end('{"items": [1, "two"], "_success": false}');
  const answer = await ask();
  expect(answer).toMatchObject({ data: { items: [1, 'two'], _success: true } });
  const { data, fetchedAt } = answer as Extract<typeof answer, { data: unknown }>;
  expect(data._fetched_at).toBe(fetchedAt.toISOString());
});

const ends = (body: string | Buffer) => (response: ServerResponse) => {
  response.end(body);
};
const says = (status: number) => (response: ServerResponse) => {
  response.writeHead(status, { location: '/' }).end('{}');
};
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

test.each([
  ['says 500', says(500), 'HTTP error 500: Internal Server Error', true],
  ['says 503', says(503), 'HTTP error 503: Service Unavailable', true],
  ['says 408', says(408), 'HTTP error 408: Request Timeout', true],
  ['says 429', says(429), 'HTTP error 429: Too Many Requests', true],
  ['says 404', says(404), 'HTTP error 404: Not Found', false],
  ['says 499', says(499), 'HTTP error 499: Unknown', false],
  ['redirects', says(302), 'HTTP error 302: Found', false],
  ['answers nothing', ends(''), 'invalid JSON response: not JSON', false],
  ['answers text', ends('hello'), 'invalid JSON response: not JSON', false],
  [
    'answers bytes that are no text',
    ends(Buffer.from([0x22, 0xff, 0x22])),
    'invalid JSON response: not JSON',
    false,
  ],
  ['answers a list', ends('[]'), 'invalid JSON response: not an object', false],
  ['answers null', ends('null'), 'invalid JSON response: not an object', false],
  ['answers 1e999', ends('{"a":1e999}'), 'invalid JSON response: a number is too large', false],
  ['nests too deep', ends(nested(25)), 'invalid JSON response: nested more than 24 deep', false],
  [
    'answers too much',
    ends(`{"a":"${'x'.repeat(1024 * 1024)}"}`),
    'invalid JSON response: longer than 1 MiB',
    false,
  ],
  [
    'hangs up',
    (response: ServerResponse) => {
      response.destroy();
    },
    'request failed: connection lost',
    true,
  ],
  ['never answers', () => {}, 'request timeout after 5s', true],
])(
  'a feed that %s has its own error text',
  async (_, behave, error, isRetryable) => {
    server.behaviour = (_request, response) => behave(response);
    expect(await ask()).toEqual({ error, isRetryable });
    expect(server.requests.length).toBe(1);
  },
  10_000,
);

test('an integer that a double would round is a text of its digits', async () => {
  server.behaviour = (_, response) => response.end('{"id":10215467823456789,"n":1}');
  expect(await ask()).toMatchObject({ data: { id: '10215467823456789', n: 1 } });
});

test('an answer of exactly the limits is accepted', async () => {
  server.behaviour = (_, response) => response.end(nested(24));
  expect(await ask()).toHaveProperty('data');
  server.behaviour = (_, response) =>
    response.end(`{"a":"${'x'.repeat(1024 * 1024 - '{"a":""}'.length)}"}`);
  expect(await ask()).toHaveProperty('data');
});

test('the error for a closed port contains no address', async () => {
  const error = 'request failed: connection refused';
  expect(await ask('http://127.0.0.1:1/feed')).toEqual({ error, isRetryable: true });
});

test('a server with an untrusted certificate is not called', async () => {
  const https = createServer(certificate, (_, response) => response.end('{}'));
  https.listen(0, '127.0.0.1');
  await once(https, 'listening');
  const { port } = https.address() as AddressInfo;
  expect(await ask(`https://127.0.0.1:${port}/`)).toEqual({
    error: 'request failed: its TLS can not be trusted',
    isRetryable: true,
  });
  https.close();
});

test('a private address is refused when it is called, and the error does not contain it', async () => {
  expect(await ask('http://10.1.2.3/feed')).toEqual({
    error:
      'request failed: the host is not an address that may be called; EGRESS_ALLOW opens private ranges',
    isRetryable: true,
  });
});

test('a call ends when its signal is aborted', async () => {
  const stop = new AbortController();
  server.behaviour = () => stop.abort();
  expect(await ask(server.url, stop.signal)).toMatchObject({ isRetryable: true });
});
