import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Hit, TrackingService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { linkKeys, linkSigner } from '#lib/keys/signed-link.ts';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import { until } from '../../test/stack/until.ts';
import {
  keyring,
  startGateway,
  startService,
  type TestGateway,
  type TestService,
} from '../testing.ts';

const urls = [
  'https://shop.example/a?x=1&y=2',
  'https://shop.example/größe',
  'javascript:alert(1)',
  'https://shop.example/\r\nset-cookie: stolen=1',
  'https://shop.example/{{ contact.external_id }}',
];

let service: TestService;
let gateway: TestGateway;
let hits: Hit[];
/** The ids of the batches that came. */
let batches: string[];
/** Hits are taken, and the answer is lost. */
let losesAnswer: boolean;
let asked: number;
let isDown: boolean;
/** The subject of the token that came with the hits. */
let caller: string | undefined;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(TrackingService, {
      getTrackedLinks: () => {
        asked += 1;
        if (isDown) throw new ConnectError('no database', Code.Unavailable);
        return { urls };
      },
      recordHits: async (request, { requestHeader }) => {
        const [, token = ''] = (requestHeader.get('authorization') ?? '').split(' ');
        caller = (await keyring.verifyToken(token))?.subject;
        if (isDown) throw new ConnectError('no database', Code.Unavailable);
        hits.push(...request.hits);
        batches.push(request.batchId);
        if (losesAnswer) throw new ConnectError('the answer is lost', Code.Unavailable);
        return {};
      },
    });
  });
  gateway = await startGateway(service.port);
});

beforeEach(() => {
  hits = [];
  batches = [];
  losesAnswer = false;
  asked = 0;
  isDown = false;
});

afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

const newToken = (linkSet = Buffer.from('12345678')) =>
  createTrackingTokens(keyring)('w1', crypto.randomUUID(), linkSet);

const browser = {
  'user-agent':
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0',
};

function get(path: string, headers: Record<string, string> = browser, method = 'GET') {
  return fetch(`${gateway.url}${path}`, { method, headers, redirect: 'manual' });
}

const untilCounted = (count: number) =>
  until(`${count} hits are counted`, async () => hits.length >= count, { withinMs: 5_000 });

test('hits are sent with the token of the gateway, since only a gateway may say which are made by people', async () => {
  caller = undefined;
  await get(`/t/w1/${newToken()}`);
  await untilCounted(1);
  expect(caller).toBe('gateway');
});

test('the pixel is a picture that is never cached, and counts an open', async () => {
  const token = newToken();
  const response = await get(`/t/w1/${token}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('image/gif');
  expect(response.headers.get('cache-control')).toBe('no-store, private');
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.toString('latin1', 0, 6)).toBe('GIF89a');
  await untilCounted(1);
  expect(hits).toMatchObject([{ workspaceId: 'w1', token, isBot: false }]);
  expect(hits[0]?.link).toBeUndefined();
});

test('a pixel that is not ours looks the same and counts nothing', async () => {
  const token = newToken();
  for (const path of [`/t/w2/${token}`, `/t/w1/${token.slice(0, -4)}AAAA`, '/t/w1/x', '/t/']) {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/gif');
  }
  await get(`/t/w1/${token}`);
  await untilCounted(1);
  expect(hits).toHaveLength(1);
});

test('a link redirects to the address in the mail, and counts a click', async () => {
  const token = newToken();
  const response = await get(`/r/w1/${token}/0`);
  expect(response.status).toBe(302);
  expect(response.headers.get('location')).toBe('https://shop.example/a?x=1&y=2');
  expect(response.headers.get('cache-control')).toBe('no-store, private');
  expect((await get(`/r/w1/${token}/1`)).headers.get('location')).toBe(
    'https://shop.example/gr%C3%B6%C3%9Fe',
  );
  await untilCounted(2);
  expect(hits.map(({ link }) => link)).toEqual([0, 1]);
  expect(asked).toBeLessThanOrEqual(1);
});

test('a link never redirects to any other address', async () => {
  const token = newToken();
  const answers = await Promise.all(
    [
      `/r/w1/${token}/99`,
      `/r/w1/${token}/2`,
      `/r/w2/${token}/0`,
      `/r/w1/${token.slice(0, -4)}AAAA/0`,
      `/r/w1/${token}/0%0d%0aset-cookie:x`,
      `/r/w1/${token}/https://evil.example`,
      '/r/w1/x/0',
      '/r/',
    ].map((path) => get(path)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(404));
  expect(answers.every(({ headers }) => headers.get('location') === null)).toBe(true);
});

function signed(token: string, number: number, url: string, workspaceId = 'w1'): string {
  const sign = linkSigner(linkKeys(keyring)(workspaceId));
  return `/r/w1/${token}/${number}/${sign({ token, number, url })}`;
}

test('a link that depends on the recipient redirects to the signed address, also while messages is down', async () => {
  const token = newToken();
  isDown = true;
  const response = await get(signed(token, 4, 'https://shop.example/größe?name={{x}}&b=%C3'));
  expect(response.status).toBe(302);
  expect(response.headers.get('location')).toBe(
    'https://shop.example/gr%C3%B6%C3%9Fe?name={{x}}&b=%C3',
  );
  isDown = false;
  await untilCounted(1);
  expect(hits).toMatchObject([{ token, link: 4 }]);
});

test('a link never redirects to an address that is not signed for its message, number and workspace', async () => {
  const token = newToken();
  const good = signed(token, 4, 'https://shop.example/');
  const part = good.split('/').at(-1) ?? '';
  const mac = Buffer.from(part, 'base64url').subarray(0, 16);
  const forged = Buffer.concat([mac, Buffer.from('https://evil.example/')]).toString('base64url');
  const noMac = Buffer.concat([Buffer.alloc(16), Buffer.from('https://evil.example/')]);
  const paths = [
    `/r/w1/${token}/4`,
    `/r/w1/${token}/4/${forged}`,
    `/r/w1/${token}/4/${noMac.toString('base64url')}`,
    `/r/w1/${token}/4/${mac.toString('base64url')}`,
    `/r/w1/${token}/3/${part}`,
    `/r/w1/${newToken()}/4/${part}`,
    `/r/w2/${token}/4/${part}`,
    `${good}A`,
    `${good}/`,
    `${good}/x`,
    signed(token, 4, 'https://shop.example/', 'w2'),
    signed(token, 4, 'javascript:alert(1)'),
    signed(token, 4, '//evil.example'),
    `/r/w1/${token}/4/${'A'.repeat(3_000)}`,
  ];
  const answers = await Promise.all(paths.map((path) => get(path)));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 404));
  expect((await get(good)).status).toBe(302);
});

test('an address with line breaks cannot add a header', async () => {
  const response = await get(`/r/w1/${newToken()}/3`);
  expect(response.status).toBe(302);
  expect(response.headers.get('location')).toBe('https://shop.example/set-cookie:%20stolen=1');
  expect(response.headers.get('set-cookie')).toBeNull();
  await untilCounted(1);
});

test.each([
  ['a scanner', { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0)' }, 'GET'],
  ['a script', { 'user-agent': 'python-requests/2.32' }, 'GET'],
  ['a prefetch', { ...browser, 'sec-purpose': 'prefetch' }, 'GET'],
  ['a preview', { ...browser, purpose: 'preview' }, 'GET'],
  ['a HEAD', browser, 'HEAD'],
])('%s is marked as a program and answered normally', async (_name, headers, method) => {
  const token = newToken();
  expect((await get(`/r/w1/${token}/0`, headers, method)).status).toBe(302);
  expect((await get(`/t/w1/${token}`, headers, method)).status).toBe(200);
  await untilCounted(2);
  expect(hits.map(({ isBot }) => isBot)).toEqual([true, true]);
});

test('hits during an outage of messages are sent later, and known links still redirect', async () => {
  const known = newToken();
  await get(`/r/w1/${known}/0`);
  await untilCounted(1);
  isDown = true;
  expect((await get(`/r/w1/${known}/1`)).status).toBe(302);
  expect((await get(`/t/w1/${known}`)).status).toBe(200);
  const unknown = newToken(Buffer.from('87654321'));
  expect((await get(`/r/w1/${unknown}/0`)).status).toBe(503);
  isDown = false;
  await untilCounted(3);
  expect((await get(`/r/w1/${unknown}/0`)).status).toBe(302);
});

test('another method is a 405', async () => {
  for (const path of [`/t/w1/${newToken()}`, `/r/w1/${newToken()}/0`]) {
    const response = await get(path, browser, 'POST');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  }
});

test('hits whose answer was lost are sent again as the same batch, and later ones as another', async () => {
  losesAnswer = true;
  await get(`/t/w1/${newToken()}`);
  await untilCounted(1);
  losesAnswer = false;
  await get(`/t/w1/${newToken()}`);
  // The first comes again as often as its answer is lost.
  await until('another batch has come', async () => new Set(batches).size > 1);
  const distinct = [...new Set(batches)];
  expect(distinct).toHaveLength(2);
  expect(batches.length).toBeGreaterThan(2);
  expect(batches.at(-1)).toBe(distinct[1]);
});

test('the same link or picture counts once a second, for people and for programs', async () => {
  const token = newToken();
  const paths = [`/t/w1/${token}`, `/r/w1/${token}/0`, `/r/w1/${token}/1`];
  const ask = (agent: Record<string, string>) =>
    Promise.all(paths.flatMap((path) => Array.from({ length: 20 }, () => get(path, agent))));
  const answers = [...(await ask(browser)), ...(await ask({ 'user-agent': 'curl/8.0' }))];
  expect(answers.filter(({ status }) => status >= 400)).toEqual([]);
  await get(`/t/w1/${newToken()}`);
  await untilCounted(7);
  expect(hits).toHaveLength(7);
  await new Promise((done) => setTimeout(done, 1_000));
  await get(paths[0] ?? '');
  await untilCounted(8);
});

test('wrong links of an address are a 429 beyond 50 of each kind at once, and right ones of it are not', async () => {
  const from = { ...browser, 'x-forwarded-for': '203.0.113.7' };
  const behind = await startGateway(service.port, { trustedProxies: ['127.0.0.0/8'] });
  const statuses = async (paths: string[], headers: Record<string, string>) => {
    const asked = paths.map((path) =>
      fetch(`${behind.url}${path}`, { headers, redirect: 'manual' }).then(({ status }) => status),
    );
    return Promise.all(asked);
  };
  const wrong = (count: number) =>
    Array.from({ length: count }, (_, at) => `/${at % 2 ? 'r' : 't'}/w1/${'A'.repeat(43)}/${at}`);
  expect(await statuses(wrong(100), from)).not.toContain(429);
  // Some are forgotten meanwhile.
  expect(
    (await statuses(wrong(100), from)).filter((status) => status === 429).length,
  ).toBeGreaterThan(50);
  expect(await statuses([`/r/w1/${newToken()}/0`], from)).toEqual([302]);
  expect(await statuses([`/t/w1/${newToken()}`], from)).toEqual([200]);
  const other = { ...browser, 'x-forwarded-for': '203.0.113.8' };
  expect(await statuses(wrong(2), other)).toEqual([200, 404]);
  await behind.stop();
});
