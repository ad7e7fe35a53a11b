import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { TrackingService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import type { GatewayOptions } from '../server.ts';
import {
  keyring,
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';

let service: TestService;
let gateway: TestGateway;
let authorization: string;
let sockets: Socket[] = [];
/** Calls of `contacts.count` that wait for their answer. */
let waiting: (() => void)[] = [];
let isWaiting = false;

beforeAll(async () => {
  service = await startService((router) => {
    router.service(ContactService, {
      async countContacts() {
        if (isWaiting) await new Promise<void>((done) => waiting.push(done));
        return { totalContacts: 7 };
      },
      upsertContact: ({ contact }) => ({ email: contact?.email }),
    });
    router.service(TrackingService, {
      async getTrackedLinks() {
        if (isWaiting) await new Promise<void>((done) => waiting.push(done));
        return { urls: ['https://shop.example/'] };
      },
      recordHits: () => ({}),
    });
  });
  authorization = `Bearer ${await tokenFor('user-1')}`;
});

afterEach(async () => {
  isWaiting = false;
  for (const done of waiting) done();
  for (const socket of sockets) socket.destroy();
  [waiting, sockets] = [[], []];
  await gateway.stop();
});

afterAll(() => service.stop());

/** In a mail of its own, with links of its own. */
const newToken = () => createTrackingTokens(keyring)('w', crypto.randomUUID(), randomBytes(8));
const clickUrl = () => `${gateway.url}/r/w/${newToken()}/0`;
const openUrl = () => `${gateway.url}/t/w/${newToken()}`;

async function start(limits: GatewayOptions['limits'], more: Partial<GatewayOptions> = {}) {
  gateway = await startGateway(service.port, { limits, ...more });
}

async function open(text: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {}).resume();
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const lines = (...all: string[]) =>
  `${[...all, 'host: x', 'expect: 100-continue'].join('\r\n')}\r\n\r\n`;
const counted = '/api/contacts.count?workspace_id=w';
const getAs = async (subject: string, from = '') => {
  const headers = { authorization: `Bearer ${await tokenFor(subject)}`, 'x-forwarded-for': from };
  return fetch(`${gateway.url}${counted}`, { headers });
};
const idle = () =>
  lines(
    `POST /api/contacts.upsert HTTP/1.1`,
    'content-length: 100',
    `authorization: ${authorization}`,
  );
const get = (from = '') =>
  fetch(`${gateway.url}${counted}`, { headers: { authorization, 'x-forwarded-for': from } });

test.each([
  ['a body that does not come', idle],
  [
    'a body that does not come, and no token',
    () => lines('POST /api/contacts.upsert HTTP/1.1', 'content-length: 9'),
  ],
  [
    'a body to what takes none',
    () => lines(`GET ${counted} HTTP/1.1`, 'content-length: 9', `authorization: ${authorization}`),
  ],
])('requests with %s do not count against the limit of requests', async (_, text) => {
  await start({ inFlightMax: 4 });
  const opened = await Promise.all(Array.from({ length: 12 }, () => open(text())));
  // A `100 Continue`, or the answer.
  await Promise.all(opened.map((socket) => once(socket, 'data')));
  expect((await get()).status).toBe(200);
});

test('requests beyond the limit are refused until one ends', async () => {
  await start({ inFlightMax: 4 }, { trustedProxies: ['127.0.0.0/8'] });
  isWaiting = true;
  // Of one user each, so that none has more than its share.
  const four = Array.from({ length: 4 }, (_, at) => getAs(`user-${at}`));
  while (waiting.length < 4) await sleep(5);
  const body = JSON.stringify({ workspace_id: 'w', contact: { email: 'a@example.com' } });
  const headers = { authorization, 'content-type': 'application/json' };
  const post = () => fetch(`${gateway.url}/api/contacts.upsert`, { method: 'POST', headers, body });
  for (const ask of [get, post]) {
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
  }
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  isWaiting = false;
  for (const done of waiting) done();
  for (const answer of await Promise.all(four)) expect(answer.status).toBe(200);
  expect((await post()).status).toBe(200);
});

test('a caller with more than its share of the requests in progress is told to wait, and others are not', async () => {
  await start({ inFlightMax: 16 }, { trustedProxies: ['127.0.0.0/8'] });
  isWaiting = true;
  const asked = Array.from({ length: 20 }, () => get('203.0.113.1'));
  while (waiting.length < 8) await sleep(5);
  const refused = await Promise.all(asked.slice(8));
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 429));
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect(await refused[0]?.json()).toMatchObject({ code: 'resource_exhausted' });
  isWaiting = false;
  expect((await getAs('user-2', '203.0.113.1')).status).toBe(200);
  for (const done of waiting) done();
  for (const answer of await Promise.all(asked.slice(0, 8))) expect(answer.status).toBe(200);
});

test('users behind one address have a share each', async () => {
  await start({ inFlightMax: 16 });
  isWaiting = true;
  const asked = Array.from({ length: 12 }, (_, at) => getAs(`user-${at}`));
  while (waiting.length < 12) await sleep(5);
  for (const done of waiting) done();
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
});

test('readers of mails behind one address are answered whatever share it has left', async () => {
  await start({ inFlightMax: 16 });
  isWaiting = true;
  // A link that waits for messages keeps its place meanwhile.
  const links = Array.from({ length: 10 }, () => fetch(clickUrl(), { redirect: 'manual' }));
  while (waiting.length < 10) await sleep(5);
  expect((await fetch(openUrl())).status).toBe(200);
  for (const done of waiting) done();
  for (const answer of await Promise.all(links)) expect(answer.status).toBe(302);
});

test('readers of mails beyond the limit of requests are refused', async () => {
  await start({ inFlightMax: 4 });
  isWaiting = true;
  const links = Array.from({ length: 4 }, () => fetch(clickUrl(), { redirect: 'manual' }));
  while (waiting.length < 4) await sleep(5);
  expect((await fetch(clickUrl(), { redirect: 'manual' })).status).toBe(503);
  for (const done of waiting) done();
  for (const answer of await Promise.all(links)) expect(answer.status).toBe(302);
});

test.each([
  ['of many mails', 256, () => Array.from({ length: 299 }, clickUrl)],
  ['of one mail', 1, () => new Array<string>(299).fill(clickUrl())],
])(
  'links %s that wait for messages leave most places to everybody else',
  async (_, calls, urls) => {
    await start({ inFlightMax: 300 });
    const known = clickUrl();
    const click = (url: string) => fetch(url, { redirect: 'manual' });
    expect((await click(known)).status).toBe(302);
    isWaiting = true;
    const statuses: number[] = [];
    const links = urls().map(async (url) => {
      statuses.push((await click(url)).status);
    });
    while (waiting.length < calls || statuses.length < 43) await sleep(5);
    expect(statuses).toEqual(Array(43).fill(503));
    expect((await click(known)).status).toBe(302);
    expect((await fetch(openUrl())).status).toBe(200);
    isWaiting = false;
    expect((await get()).status).toBe(200);
    expect(waiting).toHaveLength(calls);
    for (const done of waiting) done();
    await Promise.all(links);
    expect(statuses.slice(43)).toEqual(Array(256).fill(302));
  },
);

const isOpen = (socket: Socket) => !socket.closed && !socket.readableEnded;

test('a new connection beyond the limit of its address replaces the one that has waited longest', async () => {
  await start({ connectionsPerAddressMax: 3 });
  const [first, second] = [await open(idle()), await open('')];
  const other = await open(idle(), '127.0.0.2');
  const third = await open('');
  const gone = once(first, 'close');
  expect((await get()).status).toBe(200);
  await gone;
  expect([second, third, other].map(isOpen)).toEqual([true, true, true]);
});

test('a new connection beyond the limit of all replaces the one that has waited longest', async () => {
  await start({ connectionsMax: 3 });
  const [first, second] = [await open('', '127.0.0.2'), await open('', '127.0.0.3')];
  const third = await open('', '127.0.0.4');
  const gone = once(first, 'close');
  expect((await get()).status).toBe(200);
  await gone;
  expect([second, third].map(isOpen)).toEqual([true, true]);
});

test('a busy connection is not closed for a new one of its address', async () => {
  await start({ connectionsPerAddressMax: 2 });
  isWaiting = true;
  const two = [get(), get()];
  while (waiting.length < 2) await sleep(5);
  await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
  isWaiting = false;
  for (const done of waiting) done();
  for (const answer of await Promise.all(two)) expect(answer.status).toBe(200);
  expect((await get()).status).toBe(200);
});

test('a trusted proxy may have any number of connections', async () => {
  await start({ connectionsPerAddressMax: 2 }, { trustedProxies: ['127.0.0.0/8'] });
  const many = [await open(''), await open(''), await open(''), await open('')];
  expect((await get()).status).toBe(200);
  expect(many.every(isOpen)).toBe(true);
});

/** Everything received until the connection is closed. */
async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

test('a body that stops arriving is a 408 and ends its connection, one that goes on arriving does not', async () => {
  await start({ bodyStallMs: 1_000 });
  const stalled = await open(idle());
  const told = textOf(stalled);
  const body = JSON.stringify({ workspace_id: 'w', contact: { email: 'a@example.com' } });
  const head = lines(
    'POST /api/contacts.upsert HTTP/1.1',
    `content-length: ${body.length}`,
    `authorization: ${authorization}`,
    'connection: close',
  );
  const steady = await open(head);
  const answer = textOf(steady);
  for (const letter of body.match(/.{1,10}/g) ?? []) {
    steady.write(letter);
    await sleep(200);
  }
  expect(await answer).toMatch(/^HTTP\/1.1 200 /m);
  expect(await told).toMatch(/^HTTP\/1.1 408 .*request_timeout/ms);
});

test('a caller has half of the memory for bodies, until they are answered, and others have theirs', async () => {
  await start({ bodiesMaxBytes: 800_000 });
  const head = lines(
    'POST /api/contacts.upsert HTTP/1.1',
    'content-length: 200000',
    `authorization: ${authorization}`,
  );
  const held: Socket[] = [];
  for (let each = 0; each < 4; each += 1) {
    const socket = await open(head);
    await once(socket, 'data');
    socket.write('x'.repeat(100_000));
    held.push(socket);
  }
  await sleep(100);
  const body = JSON.stringify({ workspace_id: 'w', contact: { email: 'a@example.com' } });
  const url = `${gateway.url}/api/contacts.upsert`;
  const post = async (subject: string) => {
    const headers = {
      authorization: `Bearer ${await tokenFor(subject)}`,
      'content-type': 'application/json',
    };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  expect(await post('user-1')).toBe(429);
  expect(await post('user-2')).toBe(200);
  for (const socket of held) socket.destroy();
  while ((await post('user-1')) !== 200) await sleep(20);
});

test('four very large bodies of a caller are read at a time, and others have theirs read', async () => {
  await start({});
  const begun = async (subject: string) => {
    const socket = await open(
      lines(
        'POST /api/contacts.import HTTP/1.1',
        'content-length: 2000000',
        'content-type: application/json',
        'expect: 100-continue',
        `authorization: Bearer ${await tokenFor(subject)}`,
      ),
    );
    let isRead = false;
    socket.once('data', () => {
      isRead = true;
    });
    return { socket, isRead: () => isRead };
  };
  const bodies: Awaited<ReturnType<typeof begun>>[] = [];
  for (let each = 0; each < 6; each += 1) bodies.push(await begun('user-1'));
  const readCount = () => bodies.filter(({ isRead }) => isRead()).length;
  while (readCount() < 4) await sleep(20);
  const other = await begun('user-2');
  while (!other.isRead()) await sleep(20);
  expect(readCount()).toBe(4);
  bodies.find(({ isRead }) => isRead())?.socket.destroy();
  while (readCount() < 5) await sleep(20);
});

test('a very large body without a length waits as others do, once so much of it has come', async () => {
  await start({});
  const sent = async () => {
    const socket = await open(
      lines(
        'POST /api/contacts.import HTTP/1.1',
        'transfer-encoding: chunked',
        'content-type: application/json',
        `authorization: ${authorization}`,
      ),
    );
    const piece = 'x'.repeat(256 * 1024);
    let isTaken = false;
    for (let each = 0; each < 32; each += 1) {
      socket.write(`40000\r\n${piece}\r\n`, () => {
        isTaken ||= each === 31;
      });
    }
    return () => isTaken;
  };
  const bodies: (() => boolean)[] = [];
  for (let each = 0; each < 6; each += 1) bodies.push(await sent());
  const takenCount = () => bodies.filter((isTaken) => isTaken()).length;
  while (takenCount() < 4) await sleep(20);
  await sleep(300);
  expect(takenCount()).toBe(4);
});

test('bodies that do not come take none of the places of their caller', async () => {
  await start({ bodyStallMs: 60_000 });
  for (let each = 0; each < 70; each += 1) {
    const socket = await open(idle());
    // `100 Continue` says that the gateway waits for the body.
    await once(socket, 'data');
  }
  const body = JSON.stringify({ workspace_id: 'w', contact: { email: 'a@example.com' } });
  const headers = { authorization, 'content-type': 'application/json' };
  const url = `${gateway.url}/api/contacts.upsert`;
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
});

const plainGet = (path: string) =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`;

test('the requests of one connection are answered one at a time, in their order', async () => {
  await start({});
  isWaiting = true;
  const socket = await open(plainGet(counted).repeat(3) + plainGet('/healthz'));
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const answers = () => text.match(/^HTTP.1.1 200|"status":"ok"|total_contacts/gm) ?? [];
  for (let each = 0; each < 3; each += 1) {
    while (waiting.length === 0) await sleep(5);
    await sleep(20);
    expect(waiting).toHaveLength(1);
    for (const done of waiting.splice(0)) done();
  }
  while (answers().length < 8) await sleep(5);
  expect(answers().at(-1)).toBe('"status":"ok"');
});

test('a connection with more than 64 requests that wait for their turn is ended', async () => {
  await start({});
  isWaiting = true;
  const socket = await open(plainGet(counted).repeat(66));
  await once(socket, 'close');
  expect(waiting.length).toBeLessThanOrEqual(1);
});
