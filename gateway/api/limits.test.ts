import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { noLimits, RequestLimits, type RequestRates } from '#lib/limits/request-limits.ts';
import {
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';

let service: TestService;
let gateway: TestGateway;
let reached = 0;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(ContactService, {
      countContacts() {
        reached += 1;
        return { totalContacts: 7 };
      },
    });
  });
});
afterEach(() => gateway.stop());
afterAll(() => service.stop());

/** Nothing is refilled, since the clock stands still. */
async function givenGateway(rates: Partial<RequestRates>) {
  reached = 0;
  const requestLimits = new RequestLimits({ ...noLimits, ...rates }, () => 0);
  gateway = await startGateway(service.port, { requestLimits, trustedProxies: ['127.0.0.0/8'] });
}

async function get(
  user: string,
  from = '203.0.113.7',
  path = '/api/contacts.count?workspace_id=w',
) {
  const authorization = `Bearer ${user === '' ? 'wrong' : await tokenFor(user)}`;
  return fetch(`${gateway.url}${path}`, { headers: { authorization, 'x-forwarded-for': from } });
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
  expect((await get('two', '203.0.113.8')).status).toBe(200);
  expect((await get('', '203.0.113.7', '/healthz')).status).toBe(200);
  expect((await get('', '203.0.113.7', '/openapi.json')).status).toBe(200);
});
