import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { noLimits, RequestLimits, type RequestRates } from '#lib/limits/request-limits.ts';
import { until } from '../../test/stack/until.ts';
import {
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';
import { Brake } from './brake.ts';
import type { GatewayLimits } from './limits.ts';

let service: TestService;
let gateway: TestGateway;
let reached = 0;
let answering: Promise<void> | undefined;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(ContactService, {
      async countContacts() {
        reached += 1;
        await answering;
        return { totalContacts: 7 };
      },
    });
  });
});
afterEach(() => gateway.stop());
afterAll(() => service.stop());

/** Nothing is refilled, since the clock stands still. */
async function givenGateway(rates: Partial<RequestRates>, limits: Partial<GatewayLimits> = {}) {
  reached = 0;
  answering = undefined;
  const requestLimits = new RequestLimits({ ...noLimits, ...rates }, () => 0);
  gateway = await startGateway(service.port, {
    requestLimits,
    trustedProxies: ['127.0.0.0/8'],
    limits,
  });
}

type Asked = { from?: string; path?: string; signal?: AbortSignal };

async function get(
  user: string,
  { from = '203.0.113.7', path = '/api/contacts.count?workspace_id=w', signal }: Asked = {},
) {
  const authorization = `Bearer ${user === '' ? 'wrong' : await tokenFor(user)}`;
  const headers = { authorization, 'x-forwarded-for': from };
  return fetch(`${gateway.url}${path}`, { headers, ...(signal ? { signal } : {}) });
}

test('a user has a limit, whose answer says when to come again, and reaches no service', async () => {
  await givenGateway({ key: 1 });
  for (let each = 0; each < 2; each += 1) expect((await get('one')).status).toBe(200);
  const refused = await get('one');
  expect(refused.status).toBe(429);
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    'retry-after': '1',
    'ratelimit-policy': '"key";q=2;w=2',
    ratelimit: '"key";r=0;t=1',
  });
  expect(await refused.json()).toMatchObject({
    error: 'too many requests with this key; slow down',
    code: 'resource_exhausted',
  });
  expect(reached).toBe(2);
  expect((await get('other')).status).toBe(200);
});

test('an address has a limit, also without a valid token; pages and documents have none', async () => {
  await givenGateway({ address: 1 });
  expect((await get('')).status).toBe(401);
  expect((await get('one')).status).toBe(200);
  expect((await get('two')).status).toBe(429);
  expect((await get('two', { from: '203.0.113.8' })).status).toBe(200);
  expect((await get('', { path: '/healthz' })).status).toBe(200);
  expect((await get('', { path: '/openapi.json' })).status).toBe(200);
});

test('refusals of a caller come at a pace of 50 a second after the first 50', async () => {
  const brake = new Brake();
  const { signal } = new AbortController();
  let answered = 0;
  const { now } = performance;
  const beganAtMs = performance.now();
  // Time stands still, however long it takes to begin.
  performance.now = () => beganAtMs;
  const held = Array.from({ length: 60 }, () =>
    brake.hold('one', signal).then(() => {
      answered += 1;
    }),
  );
  const other = brake.hold('other', signal);
  performance.now = now;
  await other;
  expect(answered).toBe(50);
  await Promise.all(held);
  expect(performance.now() - beganAtMs).toBeGreaterThan(150);
});

test('a refusal that waits has no place that others need', async () => {
  await givenGateway({}, { inFlightMax: 64 });
  const gone = new AbortController();
  const refused = Array.from({ length: 150 }, () => get('', { signal: gone.signal }));
  await Promise.race(refused);
  const open = Promise.withResolvers<void>();
  answering = open.promise;
  const others = Array.from({ length: 24 }, () => get('other', { from: '203.0.113.8' }));
  await until('all others have a place', async () => reached === others.length);
  open.resolve();
  expect((await Promise.all(others)).every(({ status }) => status === 200)).toBe(true);
  gone.abort();
  await Promise.allSettled(refused);
}, 60_000);
