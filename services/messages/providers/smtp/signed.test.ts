import { expect, test } from '@jest/globals';
import { count, givenPool, givenSink, kinds, people, send } from '../../test/given-pool.ts';
import type { MailSignature } from '../outgoing.ts';
import { defaultTimeouts } from './dial.ts';

const fields = 'DKIM-Signature: v=1;\r\n b=abc\r\n';
const notSigned = { kind: 'deferred', info: 'the mail could not be signed' };

/** A signature that is answered in a later turn. */
const signedBy = (answer: (mail: Buffer) => string | undefined): MailSignature => ({
  room: 100,
  make: (mail, done) => setImmediate(() => done(answer(mail))),
});

test.each([true, false])(
  'the fields stand before the mail, which is signed as it is sent (pipelining: %p)',
  async (pipelining) => {
    const sink = await givenSink({ pipelining }, 50);
    const signed: string[] = [];
    const signature = signedBy((mail) => {
      signed.push(mail.toString('latin1'));
      return fields;
    });
    const to = people(50).map((email) => ({ to: email, signature }));
    expect(count(await send(givenPool(sink.port), to), 'accepted')).toBe(50);
    expect(sink.bodies().toSorted()).toEqual(signed.map((mail) => fields + mail).toSorted());
    expect(sink.bodies()[0]).toMatch(/\r\n$/);
  },
);

test.each([
  ['cannot be signed', undefined],
  ['has more fields than room', 'x'.repeat(101)],
])('a mail that %s is deferred, nothing of it is sent, and others go on', async (_, answer) => {
  const sink = await givenSink({}, 50);
  const bad = people(3).map((to) => ({ to: `bad-${to}`, signature: signedBy(() => answer) }));
  const good = people(20).map((to) => ({ to, signature: signedBy(() => fields) }));
  const outcomes = await send(givenPool(sink.port), [...bad, ...good]);
  expect(outcomes.slice(0, 3)).toEqual([notSigned, notSigned, notSigned]);
  expect(count(outcomes, 'accepted')).toBe(20);
  expect(sink.total()).toBe(20);
});

test('a mail whose connection ends while it is signed goes out by another, once', async () => {
  const sink = await givenSink({}, 10);
  const late: (() => void)[] = [];
  const signature: MailSignature = {
    room: 100,
    make: (_, done) => {
      if (late.length === 0) late.push(() => done(fields));
      else done(fields);
    },
  };
  const timeouts = { ...defaultTimeouts, commandMs: 300 };
  const pool = givenPool(sink.port, {}, 1, { timeouts });
  const given = [{ to: 'a@example.com', signature }, 'b@example.com'];
  expect(kinds(await send(pool, given))).toEqual(['accepted', 'accepted']);
  late[0]?.();
  expect(sink.total()).toBe(2);
  expect(sink.received.get('a@example.com')?.count).toBe(1);
  expect(sink.bodies('a@example.com')[0]).toMatch(/^DKIM-Signature: v=1;/);
});

test.each(['the call is over', 'the lease has ended'])(
  'a mail is not begun where %s when it is signed',
  async (why) => {
    const sink = await givenSink({}, 10);
    const stop = new AbortController();
    const signature: MailSignature = {
      room: 100,
      make: (_, done) => {
        if (why === 'the call is over') stop.abort();
        setTimeout(() => done(fields), 60);
      },
    };
    const given = { to: 'a@example.com', signature, signal: stop.signal, leaseMs: 50 };
    expect(await send(givenPool(sink.port), [given])).toEqual([{ kind: 'not_started' }]);
    expect(sink.total()).toBe(0);
  },
);

test('the time that signing takes is not taken for the server’s', async () => {
  const sink = await givenSink();
  const signature: MailSignature = {
    room: 100,
    make: (_, done) => void setTimeout(() => done(fields), 300),
  };
  const pool = givenPool(sink.port);
  await send(pool, [{ to: 'a@example.com', signature }]);
  expect(pool.messageMs).toBeLessThan(250);
});
