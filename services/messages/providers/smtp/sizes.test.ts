import { expect, test } from '@jest/globals';
import { MessageBuffer } from '../../mime/buffer.ts';
import { writeMail } from '../../mime/write.ts';
import {
  asBytes,
  count,
  givenPool,
  givenSink,
  mailOf,
  people,
  send,
} from '../../test/given-pool.ts';

const megabyte = 1024 * 1024;

test.each([
  [
    'is larger than 25 MiB',
    [asBytes(Buffer.alloc(26 * megabyte, 'x'))],
    'the message is larger than 25 MiB',
  ],
  [
    'has a value that is larger encoded',
    ['ü'.repeat(9 * megabyte)],
    'the message is larger than 25 MiB',
  ],
  ['cannot be written', [undefined as unknown as string], /^the message can not be rendered: /],
])('a message that %s fails alone', async (_, text, info) => {
  for (const pipelining of [true, false]) {
    const sink = await givenSink({ pipelining });
    const wrong = { to: 'wrong@example.com', prepare: () => mailOf(text) };
    const outcomes = await send(givenPool(sink.port, {}, 1), [
      ...people(3),
      wrong,
      ...people(6).slice(3),
    ]);
    expect(count(outcomes, 'accepted')).toBe(6);
    expect(outcomes[3]).toMatchObject({ kind: 'failed' });
    const found = outcomes[3] && 'info' in outcomes[3] ? outcomes[3].info : '';
    expect(found).toMatch(info);
    expect(sink.received.size).toBe(6);
    expect(sink.duplicates()).toEqual([]);
  }
});

test('a message as large as one may be goes out with the next envelope behind it', async () => {
  const sink = await givenSink({ pipelining: true });
  const around = new MessageBuffer();
  writeMail(around, mailOf([]));
  const lines = `${'x'.repeat(900)}\r\n`;
  const length = 25 * megabyte - around.length - '.\r\n'.length;
  const mail = mailOf([asBytes(Buffer.alloc(length, lines))]);
  const largest = { to: 'largest@example.com', prepare: () => mail };
  const outcomes = await send(givenPool(sink.port, {}, 1), [largest, ...people(2)]);
  expect(count(outcomes, 'accepted')).toBe(3);
  expect(sink.duplicates()).toEqual([]);
});
