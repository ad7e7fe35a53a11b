import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { UserService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { contracts } from '../api/contracts.ts';
import { routesOf } from '../api/routes.ts';
import {
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';
import { clientAddressBehind } from './client-address.ts';
import { takesGzip } from './compression.ts';

const limits = { 'ratelimit-policy': '"attempts";q=5;w=300', ratelimit: '"attempts";r=0;t=299' };
const signIn = '/api/user.rootSignin';

let service: TestService;
let gateway: TestGateway;
let authorization: string;
let clientAddress: string | null;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(ContactService, {
      getContactByEmail: ({ email }) => ({ contact: { email, firstName: 'x'.repeat(5_000) } }),
      countContacts(_request, context) {
        clientAddress = context.requestHeader.get('x-client-address');
        return { totalContacts: 7 };
      },
    });
    router.service(UserService, {
      signInRoot({ email }, context) {
        if (email === 'wait')
          throw new ConnectError('too many attempts', Code.ResourceExhausted, limits);
        for (const [name, value] of Object.entries({ ...limits, 'x-inner': 'secret' })) {
          context.responseHeader.set(name, value);
        }
        return { token: 't' };
      },
    });
  });
  const routes = [...routesOf(contracts)].map(
    ([path, routesAtPath]) =>
      [path, routesAtPath.map((route) => ({ ...route, isCors: path === signIn }))] as const,
  );
  const trustedProxies = ['127.0.0.0/8'];
  gateway = await startGateway(service.port, { routes: new Map(routes), trustedProxies });
  authorization = `Bearer ${await tokenFor('user-1')}`;
});

afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

const large = '/api/contacts.getByEmail?workspace_id=w&email=a@b.co';

function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return fetch(`${gateway.url}${path}`, { method, headers: { authorization, ...headers } });
}

function post(email: string) {
  return fetch(`${gateway.url}${signIn}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, timestamp: 1, signature: 'x' }),
  });
}

test('a large answer is compressed for clients that accept gzip, with a Vary header', async () => {
  const packed = await get(large, { 'accept-encoding': 'br, gzip' });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  expect(Number(packed.headers.get('content-length'))).toBeLessThan(1_000);
  expect(packed.headers.get('vary')).toBe('accept-encoding');
  expect(await packed.json()).toMatchObject({ contact: { first_name: 'x'.repeat(5_000) } });
  const plain = await get(large, { 'accept-encoding': 'gzip;q=0' });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('vary')).toBe('accept-encoding');
});

test('a small answer is not compressed', async () => {
  const answer = await get('/api/contacts.count?workspace_id=w', { 'accept-encoding': 'gzip' });
  expect(answer.headers.get('content-encoding')).toBeNull();
});

test.each([
  ['gzip', true],
  ['GZIP;q=0.5', true],
  ['*', true],
  ['*;q=0, gzip', true],
  ['gzip;q=0.0, *', false],
  ['deflate, br', false],
  ['', false],
])('with Accept-Encoding %p gzip is taken: %p', (accepted, taken) => {
  expect(takesGzip(accepted)).toBe(taken);
});

test('HEAD has the headers of GET and no body', async () => {
  const answer = await get(large, { 'accept-encoding': 'identity' }, 'HEAD');
  expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(5_000);
  expect(await answer.text()).toBe('');
});

test('the rate limits in the metadata of a service are passed on, and no other metadata', async () => {
  const fine = await post('a@b.co');
  expect(fine.status).toBe(200);
  expect(Object.fromEntries(fine.headers)).toMatchObject(limits);
  expect(fine.headers.get('x-inner')).toBeNull();
  const refused = await post('wait');
  expect(refused.status).toBe(429);
  expect(Object.fromEntries(refused.headers)).toMatchObject({ ...limits, 'retry-after': '1' });
});

test('a browser may call operations with CORS from any site, without credentials', async () => {
  const asked = await fetch(`${gateway.url}${signIn}`, { method: 'OPTIONS' });
  expect(asked.status).toBe(204);
  expect(Object.fromEntries(asked.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': expect.stringContaining('content-type'),
    'access-control-max-age': '7200',
  });
  for (const email of ['a@b.co', 'wait']) {
    const { headers } = await post(email);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('access-control-expose-headers')).toContain('ratelimit');
  }
});

test('a browser may call no other operation from another site', async () => {
  for (const method of ['GET', 'OPTIONS']) {
    const { headers } = await get(large, {}, method);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('behind a trusted proxy the client is the address that the proxy names', async () => {
  await get('/api/contacts.count?workspace_id=w', { 'x-forwarded-for': '8.8.8.8, 203.0.113.7' });
  expect(clientAddress).toBe('203.0.113.7');
});

type Peer = Parameters<ReturnType<typeof clientAddressBehind>>[0];

test.each([
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['10.0.0.1', '8.8.8.8, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
  ['10.0.0.1', 'nonsense, 10.0.0.2', '10.0.0.2'],
  ['10.0.0.1', 'nonsense', '10.0.0.1'],
  ['10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['fd00::1', '203.0.113.7', '203.0.113.7'],
  ['203.0.113.9', '8.8.8.8', '203.0.113.9'],
])(
  'a connection from %s with X-Forwarded-For %s is from the client %s',
  (peer, forwarded, client) => {
    const of = clientAddressBehind(['10.0.0.0/8', 'fd00::/8']);
    const request = { socket: { remoteAddress: peer }, headers: { 'x-forwarded-for': forwarded } };
    expect(of(request as unknown as Peer)).toBe(client);
  },
);

test('anyone may read the documents, compressed, and only by GET', async () => {
  const answer = await fetch(`${gateway.url}/openapi.json`);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('content-encoding')).toBe('gzip');
  expect(await answer.json()).toMatchObject({ openapi: '3.1.0' });
  const page = await fetch(`${gateway.url}/docs`);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self';/,
  );
  const refused = await fetch(`${gateway.url}/docs`, { method: 'POST' });
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});
