import { expect, test } from '@jest/globals';
import { count, givenPool, givenSink, kinds, people, send } from '../../test/given-pool.ts';

test.each([
  [
    'mail',
    '550 5.7.1 <me@sender.example>: not yours',
    'MAIL was refused: 550 5.7.1 <[address]>: not yours',
  ],
  [
    'mail',
    '550 5.1.0 Sender address rejected',
    'MAIL was refused: 550 5.1.0 Sender address rejected',
  ],
  ['mail', '503 send AUTH first', 'MAIL was refused: 503 send AUTH first'],
  ['mail', '535 5.7.8 log in again', 'MAIL was refused: 535 5.7.8 log in again'],
  ['data', '530 5.7.0 log in first', 'DATA was refused: 530 5.7.0 log in first'],
  ['data', '503 5.5.1 send AUTH first', 'DATA was refused: 503 5.5.1 send AUTH first'],
] as const)(
  'a server that answers %s with %s to everybody is an outage',
  async (step, reply, info) => {
    for (const pipelining of [true, false]) {
      const sink = await givenSink({ pipelining, replies: [{ step, reply }] });
      const outcomes = await send(givenPool(sink.port), people(50));
      expect(outcomes).toEqual(Array(50).fill({ kind: 'outage', info }));
    }
  },
);

test('a refused sender does not stop messages of another sender', async () => {
  const sink = await givenSink({
    replies: [{ step: 'mail', reply: '550 5.7.1 not yours', times: 1 }],
  });
  const mine = people(5).map((to) => ({ to, from: 'a@sender.example' }));
  const others = people(5).map((to) => ({ to: `x${to}`, from: 'b@sender.example' }));
  const outcomes = await send(givenPool(sink.port, {}, 1), [...mine, ...others]);
  expect(kinds(outcomes)).toEqual([...Array(5).fill('outage'), ...Array(5).fill('accepted')]);
});

test.each([
  ['rcpt', '550 5.7.1 sender blocked'],
  ['rcpt', '530 5.7.0 log in first'],
  ['rcpt', '503 5.5.1 send AUTH first'],
  ['dot', '550 5.7.1 sender blocked'],
] as const)(
  'the same refusal of many in a row at %s, %s, is an outage, which the next sent mail ends',
  async (step, reply) => {
    const sink = await givenSink({ replies: [{ step, reply }] });
    const pool = givenPool(sink.port);
    const command = step === 'rcpt' ? 'RCPT' : 'the message';
    const outage = `${command} was refused 10 times in a row: ${reply}`;
    const outcomes = await send(pool, people(60));
    // None fails for it, not even the first nine.
    expect(count(outcomes, 'failed')).toBe(0);
    expect(outcomes).toContainEqual({ kind: 'deferred', info: reply, outage });
    expect(outcomes).toContainEqual({ kind: 'outage', info: outage });
    // Beside the ten, two connections were busy at that moment, each with a message and the
    // envelope of the next.
    expect(count(outcomes, 'deferred')).toBeLessThanOrEqual(13);
    const again = await send(pool, people(20));
    expect(kinds(again).toSorted()).toEqual(['deferred', ...Array(19).fill('outage')]);
    sink.behaviour.replies = [];
    expect(count(await send(pool, people(60)), 'accepted')).toBe(60);
  },
);

test('a few alike refusals fail their messages when no other outcome follows', async () => {
  const sink = await givenSink({ replies: [{ step: 'rcpt', reply: '550 5.7.1 policy' }] });
  expect(kinds(await send(givenPool(sink.port), people(3)))).toEqual(Array(3).fill('failed'));
});

test('a connection that has ended is given no other message', async () => {
  const sink = await givenSink({ replies: [{ step: 'rcpt', reply: '550 5.7.1 sender blocked' }] });
  const pool = givenPool(sink.port);
  await send(pool, people(20));
  Object.assign(sink.behaviour, { replies: [], dropAfterDot: 1 });
  expect(count(await send(pool, people(5)), 'unknown')).toBe(5);
});

test('refusals with sent mail between them are about their recipients only', async () => {
  const replies = [{ step: 'rcpt' as const, recipient: '[13579]@', reply: '550 5.7.1 policy' }];
  const sink = await givenSink({ replies });
  const outcomes = await send(givenPool(sink.port, {}, 1), people(60));
  expect([count(outcomes, 'failed'), count(outcomes, 'accepted')]).toEqual([30, 30]);
});

test.each([
  ['550 5.1.1 no such user', 'bounced'],
  ['550 no such user', 'bounced'],
  ['553 5.1.2 no such host', 'failed'],
  ['552 5.2.2 full', 'failed'],
] as const)('many dead addresses in a row are no outage: %s', async (reply, kind) => {
  const sink = await givenSink({ replies: [{ step: 'rcpt', reply }] });
  expect(count(await send(givenPool(sink.port), people(40)), kind)).toBe(40);
});

test('a server that takes mails and never answers is an outage, and is then tried with one', async () => {
  const sink = await givenSink({ dropAfterDot: 1 });
  const pool = givenPool(sink.port);
  const lost = 'the connection was closed before the server had answered';
  const outage = `it is unknown what became of 10 mails in a row: ${lost}`;
  const outcomes = await send(pool, people(60));
  expect(outcomes).toContainEqual({ kind: 'outage', info: outage });
  expect(outcomes).toContainEqual(expect.objectContaining({ kind: 'unknown', outage }));
  const taken = sink.total();
  expect(count(outcomes, 'unknown')).toBe(taken);
  expect(taken).toBeLessThanOrEqual(11);
  const again = await send(pool, people(20));
  expect(kinds(again).toSorted()).toEqual([...Array(19).fill('outage'), 'unknown']);
  expect(sink.total()).toBe(taken + 1);
});

test('421 instead of the next message leaves that message untouched', async () => {
  for (const pipelining of [true, false]) {
    const replies = [{ step: 'mail' as const, reply: '421 4.7.0 enough for now', times: 1 }];
    const sink = await givenSink({ pipelining, replies });
    expect(count(await send(givenPool(sink.port, {}, 1), people(6)), 'accepted')).toBe(6);
    expect(sink.duplicates()).toEqual([]);
  }
});

test('a server that answers 421 to each MAIL defers every message with its reply', async () => {
  const sink = await givenSink({ replies: [{ step: 'mail', reply: '421 4.7.0 busy' }] });
  const outcomes = await send(givenPool(sink.port), people(4));
  expect(outcomes).toEqual(Array(4).fill({ kind: 'deferred', info: '421 4.7.0 busy' }));
});

test('a server that takes one mail per connection gets all of them', async () => {
  const sink = await givenSink({ messagesPerConnection: 1 });
  expect(count(await send(givenPool(sink.port), people(20)), 'accepted')).toBe(20);
  expect(sink.duplicates()).toEqual([]);
});
