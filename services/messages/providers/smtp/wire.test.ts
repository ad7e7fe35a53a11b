import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Reply } from './outcome.ts';
import { Wire } from './wire.ts';

/** What a client reads from a server that writes these pieces and hangs up. */
async function read(pieces: readonly string[]): Promise<{ replies: Reply[]; end: string }> {
  const server = createServer(async (socket) => {
    socket.on('error', () => undefined).setNoDelay(true);
    for (const piece of pieces) {
      socket.write(piece, 'utf8');
      await new Promise((done) => setTimeout(done, 5));
    }
    socket.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const replies: Reply[] = [];
  const ended = Promise.withResolvers<string>();
  const wire = Wire.open({ address: '127.0.0.1', family: 4, port }, false, () => undefined);
  wire.onReply = (reply) => replies.push(reply);
  wire.onClose = ended.resolve;
  const end = await ended.promise;
  server.close();
  return { replies, end };
}

const hungUp = 'the connection was closed';

test.each([
  ['a code and words', '250 2.0.0 taken\r\n', '2.0.0 taken'],
  ['a code alone', '250\r\n', ''],
  ['a code and a space', '250 \r\n', ''],
  ['a bare line feed', '250 taken\n', 'taken'],
  ['several lines', '250-one\r\n250-\r\n250 three\r\n', 'one\n\nthree'],
  ['words that are not ASCII', '250 größer\r\n', 'größer'],
])('a reply with %s is read', async (_, text, words) => {
  expect(await read([text])).toEqual({ replies: [{ code: 250, text: words }], end: hungUp });
});

test('replies are read however they are cut', async () => {
  const text = '250-first\r\n250 of two\r\n354 go on\r\n';
  const replies = [
    { code: 250, text: 'first\nof two' },
    { code: 354, text: 'go on' },
  ];
  expect(await read([text])).toEqual({ replies, end: hungUp });
  expect(await read([...text])).toEqual({ replies, end: hungUp });
});

test.each([
  ['another protocol', 'HTTP/1.1 400 Bad Request\r\n'],
  ['an empty line', '\r\n'],
  ['two digits', '25\r\n'],
  ['four digits', '2500 taken\r\n'],
  ['a code below 200', '199 taken\r\n'],
  ['a code above 599', '600 taken\r\n'],
  ['a letter in the code', '2x0 taken\r\n'],
  ['nothing between code and words', '250taken\r\n'],
  ['more than a hundred lines', '250-more\r\n'.repeat(101)],
])('%s is no reply', async (_, text) => {
  expect(await read([text])).toEqual({ replies: [], end: 'a reply that is not SMTP' });
});

test('a line without an end is given up', async () => {
  const { replies, end } = await read(['250 ', 'x'.repeat(5_000)]);
  expect({ replies, end }).toEqual({ replies: [], end: 'a reply that is too long' });
});
