import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { spamScore } from './spamd.ts';

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A spamd with a behaviour of its own for each connection. */
async function givenSpamd(serve: (socket: Socket) => void) {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    closing.push(() => socket.destroy());
    serve(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => server.close());
  return { host: '127.0.0.1', port: Number(Object(server.address()).port) };
}

const mail = Buffer.from('Subject: x\r\n\r\nx\r\n');

test('the score of a mail is that of the answer', async () => {
  let request = '';
  const spamd = await givenSpamd((socket) => {
    socket.on('data', (more) => {
      request += more;
    });
    socket.on('end', () =>
      socket.end('SPAMD/1.1 0 EX_OK\r\nContent-length: 0\r\nSpam: False ; -0.1 / 5.0\r\n\r\n'),
    );
  });
  expect(await spamScore(spamd, mail)).toBe(-0.1);
  expect(request).toBe(`CHECK SPAMC/1.5\r\nContent-length: ${mail.length}\r\n\r\n${mail}`);
});

test.each([
  ['never answers', () => undefined],
  ['answers without a score', (socket: Socket) => socket.end('SPAMD/1.0 76 Bad header\r\n')],
  ['ends at once', (socket: Socket) => socket.destroy()],
  [
    'answers without end',
    (socket: Socket) => {
      const timer = setInterval(() => socket.write('x'.repeat(60_000)), 1);
      socket.once('close', () => clearInterval(timer));
    },
  ],
])('a spamd that %s gives no score, in bounded time', async (_, serve) => {
  expect(await spamScore(await givenSpamd(serve), mail, 300)).toBeUndefined();
});

test('where no spamd listens there is no score', async () => {
  expect(await spamScore({ host: '127.0.0.1', port: 1 }, mail)).toBeUndefined();
});
