import { expect, test } from '@jest/globals';
import { count, givenPool, givenSink, people, send } from '../../test/given-pool.ts';
import { defaultTimeouts } from './dial.ts';

const megabyte = 1024 * 1024;

test.each([
  [
    'is larger than 25 MiB',
    [Buffer.alloc(26 * megabyte, 'x')],
    'the message is larger than 25 MiB',
  ],
  [
    'has a value that is larger encoded',
    ['ü'.repeat(9 * megabyte)],
    'the message is larger than 25 MiB',
  ],
  ['cannot be written', [undefined as unknown as string], /^the message can not be rendered: /],
])('a message that %s fails alone', async (_, body, info) => {
  for (const pipelining of [true, false]) {
    const sink = await givenSink({ pipelining });
    const wrong = { to: 'wrong@example.com', prepare: () => ({ head: '', body }) };
    const outcomes = await send(givenPool(sink.port, {}, 1), [
      ...people(3),
      wrong,
      ...people(6).slice(3),
    ]);
    expect(count(outcomes, 'sent')).toBe(6);
    expect(outcomes[3]).toMatchObject({ kind: 'failed' });
    const found = outcomes[3] && 'info' in outcomes[3] ? outcomes[3].info : '';
    expect(found).toMatch(info);
    expect(sink.received.size).toBe(6);
    expect(sink.duplicates()).toEqual([]);
  }
});

test('a message as large as one may be goes out with the next envelope behind it', async () => {
  const sink = await givenSink({ pipelining: true });
  const end = Buffer.from('\r\n');
  const lines = `${'x'.repeat(900)}\r\n`;
  const body = [Buffer.alloc(25 * megabyte - end.length - '.\r\n'.length, lines), end];
  const largest = { to: 'largest@example.com', prepare: () => ({ head: '', body }) };
  const outcomes = await send(givenPool(sink.port, {}, 1, { timeouts: defaultTimeouts }), [
    largest,
    ...people(2),
  ]);
  expect(count(outcomes, 'sent')).toBe(3);
  expect(sink.duplicates()).toEqual([]);
});
