import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { certificate } from '../../../../test/certificate.ts';
import { count, givenPool, givenSink, kinds, people, send } from '../../test/given-pool.ts';
import { defaultTimeouts } from './dial.ts';

test.each([true, false])('every message arrives once, pipelining %p', async (pipelining) => {
  const sink = await givenSink({ pipelining }, 1);
  const outcomes = await send(givenPool(sink.port), people(100));
  expect(count(outcomes, 'accepted')).toBe(100);
  expect(sink.received.size).toBe(100);
  expect(sink.duplicates()).toEqual([]);
  expect(sink.received.get('p7@example.com')).toEqual({
    atMs: expect.any(Number),
    count: 1,
    messageIds: ['<p7@example.com-id@x>'],
  });
  expect(sink.bodies()[0]).toContain('\r\n\r\n=2Ehello\r\n=C3=BCber =\r\nstatic=\r\n');
  expect(sink.connectionsPeak()).toBe(2);
});

test.each([
  [
    'rcpt',
    '550 5.1.1 <p1@example.com> no such user',
    { kind: 'bounced', info: '550 5.1.1 <[address]> no such user' },
  ],
  [
    'rcpt',
    '450 4.2.0 greylisted, try again in 300 seconds',
    { kind: 'deferred', retryAfterMs: 300_000 },
  ],
  ['mail', '452 4.3.1 full', { kind: 'deferred' }],
  ['data', '554 5.7.1 no', { kind: 'failed', alike: { sign: 'DATA 554 5.7.1 no' } }],
  [
    'dot',
    '552 5.3.4 too big',
    { kind: 'failed', alike: { sign: 'the message 552 5.3.4 too big' } },
  ],
  ['dot', '451 4.7.1 later', { kind: 'deferred' }],
  ['dot', '421 4.3.2 going down', { kind: 'deferred' }],
  ['rcpt', '421 4.7.0 enough', { kind: 'deferred' }],
] as const)('a refusal at %s stays with its recipient: %s', async (step, reply, expected) => {
  for (const pipelining of [true, false]) {
    // MAIL names no recipient, so the rule is for one message, whichever it is.
    const rule = step === 'mail' ? { step, reply, times: 1 } : { step, reply, recipient: '^p1@' };
    const sink = await givenSink({ pipelining, replies: [rule] });
    const outcomes = await send(givenPool(sink.port, {}, 1), people(6));
    expect(count(outcomes, 'accepted')).toBe(5);
    expect(outcomes.find(({ kind }) => kind !== 'accepted')).toMatchObject(expected);
    expect(sink.received.size).toBe(5);
    expect(sink.duplicates()).toEqual([]);
  }
});

test('a server that asks for a message without recipients gets an empty one', async () => {
  const replies = [
    { step: 'rcpt' as const, recipient: '^p[135]@', reply: '550 5.1.1 no such user' },
  ];
  const sink = await givenSink({ dataForNobody: true, replies });
  const outcomes = await send(givenPool(sink.port, {}, 1), people(7));
  expect(kinds(outcomes)).toEqual([
    'accepted',
    'bounced',
    'accepted',
    'bounced',
    'accepted',
    'bounced',
    'accepted',
  ]);
  expect(sink.total()).toBe(4);
});

test('a connection lost after the final dot leaves only its own message in doubt', async () => {
  const sink = await givenSink({ dropAfterDot: 0.2 });
  const outcomes = await send(givenPool(sink.port), people(100));
  expect(count(outcomes, 'unknown')).toBeGreaterThan(0);
  expect(count(outcomes, 'unknown') + count(outcomes, 'accepted')).toBe(100);
  expect(sink.received.size).toBe(100);
  expect(sink.duplicates()).toEqual([]);
});

test('a server that ends sessions gets the rest over new ones', async () => {
  const sink = await givenSink({ messagesPerConnection: 7 });
  const outcomes = await send(givenPool(sink.port, {}, 1), people(30));
  expect(count(outcomes, 'accepted')).toBe(30);
  expect(sink.total()).toBe(30);
});

/** A second is enough for what a server answers, also on a busy machine. */
const impatient = {
  timeouts: { ...defaultTimeouts, greetingMs: 1_000, commandMs: 1_000, finalMs: 1_000 },
};

test.each([
  ['mail', 'deferred'],
  ['rcpt', 'deferred'],
  ['data', 'deferred'],
  ['dot', 'unknown'],
] as const)('a server that stalls at %s leaves the message %s', async (stallAt, kind) => {
  const sink = await givenSink({ stallAt });
  const pool = givenPool(sink.port, {}, 1, impatient);
  expect(kinds(await send(pool, ['a@example.com']))).toEqual([kind]);
});

test.each([
  { stallAt: 'greeting' as const },
  { stallAt: 'ehlo' as const },
  { greeting: '554 go away' },
  { greeting: '421 busy' },
])('a server that refuses every session is an outage: %j', async (behaviour) => {
  const sink = await givenSink(behaviour);
  const outcomes = await send(givenPool(sink.port, {}, 2, impatient), people(5));
  expect(kinds(outcomes)).toEqual(Array(5).fill('outage'));
});

test('connections that are opened one after the other and are all refused are an outage', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const pool = givenPool((server.address() as AddressInfo).port, {}, 2, impatient);
  const first = send(pool, ['a@example.com']);
  // The second is under way when the first ends.
  await sleep(600);
  const outcomes = [...(await send(pool, ['b@example.com'])), ...(await first)];
  expect(kinds(outcomes)).toEqual(['outage', 'outage']);
  // Another could be under way when the second ends, and so on.
  expect(sockets).toHaveLength(2);
  for (const socket of sockets) socket.destroy();
  server.close();
}, 60_000);

test('a refused connection is an outage whose reason names no address', async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  const port = typeof address === 'object' && address ? address.port : 0;
  expect(await send(givenPool(port), ['a@example.com'])).toEqual([
    { kind: 'outage', info: 'connection refused' },
  ]);
});

test('after a sequence error the message goes over another connection', async () => {
  const sink = await givenSink({
    replies: [{ step: 'mail', reply: '503 5.5.1 sender already specified', times: 1 }],
  });
  expect(kinds(await send(givenPool(sink.port, {}, 1), ['a@example.com']))).toEqual(['accepted']);
});

test.each([
  ['PLAIN LOGIN', 'right', 'accepted'],
  ['LOGIN', 'right', 'accepted'],
  ['PLAIN', 'wrong', 'outage'],
  ['CRAM-MD5', 'right', 'outage'],
])('authentication by %s with the %s password: %s', async (authMethods, password, kind) => {
  const sink = await givenSink({ authMethods, credentials: { username: 'u', password: 'right' } });
  expect(
    kinds(await send(givenPool(sink.port, { username: 'u', password }), ['a@example.com'])),
  ).toEqual([kind]);
});

test('a server that wants authentication is an outage where there is none', async () => {
  const sink = await givenSink({ credentials: { username: 'u', password: 'p' } });
  expect(kinds(await send(givenPool(sink.port), ['a@example.com']))).toEqual(['outage']);
});

test('STARTTLS encrypts the session, and an untrusted certificate is an outage', async () => {
  const sink = await givenSink({ tls: certificate });
  const trusting = givenPool(sink.port, { useTls: true, host: 'localhost', ca: certificate.cert });
  expect(count(await send(trusting, people(20)), 'accepted')).toBe(20);
  const strict = givenPool(sink.port, { useTls: true, host: 'localhost' });
  expect(kinds(await send(strict, ['x@example.com']))).toEqual(['outage']);
  const without = await givenSink();
  expect(await send(givenPool(without.port, { useTls: true }), ['x@example.com'])).toEqual([
    { kind: 'outage', info: 'the server offers no STARTTLS' },
  ]);
});

test('without use_tls a password still goes encrypted where the server offers it, whatever its certificate', async () => {
  const credentials = { username: 'u', password: 'right' };
  const account = { username: 'u', password: 'right', host: 'localhost' };
  const sink = await givenSink({ tls: certificate, credentials });
  expect(count(await send(givenPool(sink.port, account), people(20)), 'accepted')).toBe(20);
  const plain = await givenSink({ credentials });
  expect(count(await send(givenPool(plain.port, account), people(20)), 'accepted')).toBe(20);
});

const growing = { connectionsMax: 200 };

test.each([
  [600, false],
  [10_000_000, true],
])(
  'at %i a minute a slow server gets more than the usual 16 connections: %p',
  async (perMinute, more) => {
    const sink = await givenSink({ latencyMs: 30 });
    const pool = givenPool(sink.port, {}, 16, growing);
    pool.perMinute = perMinute;
    expect(count(await send(pool, people(600)), 'accepted')).toBe(600);
    expect(sink.connectionsPeak() > 16).toBe(more);
  },
);

test('the time of an envelope opens connections as the time of a body does', async () => {
  const sink = await givenSink({ rcptLatencyMs: 30 });
  const pool = givenPool(sink.port, {}, 4, growing);
  const outcomes = await send(pool, people(600));
  expect(outcomes.filter(({ kind }) => kind !== 'accepted')).toEqual([]);
  expect(sink.connectionsPeak()).toBeGreaterThan(20);
});

test('abort starts nothing more and lets finish what has begun', async () => {
  const sink = await givenSink({ latencyMs: 100 });
  const pool = givenPool(sink.port);
  const abort = new AbortController();
  const done = send(
    pool,
    people(50).map((to) => ({ to, signal: abort.signal })),
  );
  while (sink.total() < 2) await new Promise((next) => setTimeout(next, 5));
  abort.abort();
  pool.dropOver();
  const outcomes = await done;
  expect(count(outcomes, 'accepted')).toBe(sink.total());
  expect(count(outcomes, 'accepted')).toBeLessThanOrEqual(4);
  expect(count(outcomes, 'accepted') + count(outcomes, 'not_started')).toBe(50);
});

test('a lease that ends while the server thinks keeps the message from going out', async () => {
  const sink = await givenSink({ latencyMs: 150 });
  const outcomes = await send(givenPool(sink.port, {}, 1), [
    { to: 'a@example.com' },
    { to: 'b@example.com', leaseMs: 100 },
    { to: 'c@example.com' },
  ]);
  expect(kinds(outcomes)).toEqual(['accepted', 'not_started', 'accepted']);
  expect([...sink.received.keys()].sort()).toEqual(['a@example.com', 'c@example.com']);
});

test('a message that cannot be rendered fails alone', async () => {
  const sink = await givenSink();
  const prepare = () => {
    throw new Error('undefined filter');
  };
  const outcomes = await send(givenPool(sink.port, {}, 1), [
    'a@example.com',
    { to: 'b@example.com', prepare },
    'c@example.com',
  ]);
  expect(outcomes[1]).toMatchObject({
    kind: 'failed',
    info: 'the message can not be rendered: undefined filter',
  });
  expect(sink.received.size).toBe(2);
});

test('messages that are held wait until they may go on, and urgent ones do not', async () => {
  const sink = await givenSink();
  let isHeld = true;
  const pool = givenPool(sink.port, {}, 2, { mayStartBulk: () => !isHeld });
  const bulk = send(pool, people(10));
  expect(kinds(await send(pool, ['urgent@example.com'], { isUrgent: true }))).toEqual(['accepted']);
  expect([...sink.received.keys()]).toEqual(['urgent@example.com']);
  isHeld = false;
  pool.resume();
  expect(count(await bulk, 'accepted')).toBe(10);
});
