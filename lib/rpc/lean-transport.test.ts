import { createServer, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, expect, test } from '@jest/globals';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { freePort } from '../../deploy/local/ports.ts';
import {
  closeAll,
  listen,
  request,
  serveObedient,
  servers,
  transports,
} from '../test/obedient-service.ts';

afterAll(closeAll);

test('large calls and small ones share a connection', async () => {
  const transport = transports.lean(await servers.lean());
  const client = createClient(AudienceService, transport);
  const wishes = Array.from({ length: 12 }, (_, at) => (at % 2 ? 'x'.repeat(5_000_000) : 'small'));
  const ask = (wish: string) => client.listAudience(request(wish), { timeoutMs: 50_000 });
  const answers = await Promise.all(wishes.map(ask));
  expect(answers.map(({ emails }) => emails[0]?.length)).toEqual(
    wishes.map(({ length }) => length),
  );
}, 60_000);

/** What the lean transport makes of a server that behaves like this. */
async function callTo(behave: (stream: ServerHttp2Stream, count: number) => void) {
  let count = 0;
  const server = createServer().on('stream', (stream) => {
    count += 1;
    stream.on('error', () => {});
    stream.resume();
    behave(stream, count);
  });
  const transport = transports.lean(await listen(server));
  const answer = createClient(AudienceService, transport).listAudience(request('x'));
  return answer.catch((error: unknown) => error);
}

const ok = { ':status': 200, 'content-type': 'application/proto' };
const unavailable = {
  code: Code.Unavailable,
  rawMessage: 'postrider.contacts.v1.AudienceService is not available',
};

test.each<[string, (stream: ServerHttp2Stream) => void]>([
  ['dies before it answers', (stream) => stream.session?.destroy()],
  [
    'dies in the middle of its answer',
    (stream) => {
      stream.respond({ ...ok, 'content-length': 1_000 });
      stream.write('half', () => stream.session?.destroy());
    },
  ],
  [
    'breaks an answer off',
    (stream) => {
      stream.respond(ok);
      stream.write('half', () => stream.close(2));
    },
  ],
  [
    'answers what is no message',
    (stream) => {
      stream.respond(ok);
      stream.end(Buffer.from([0xff, 0xff]));
    },
  ],
  [
    'answers as a proxy does',
    (stream) => {
      stream.respond({ ':status': 502, 'content-type': 'text/html' });
      stream.end('<p>Bad gateway</p>');
    },
  ],
  [
    'says that the call was left, which it was not',
    (stream) => {
      stream.respond({ ':status': 499, 'content-type': 'application/json' });
      stream.end('{"code":"canceled"}');
    },
  ],
  ['refuses every stream', (stream) => stream.close(7)],
])('a peer that %s is Unavailable', async (_, behave) => {
  expect(await callTo(behave)).toMatchObject(unavailable);
});

test('a peer that refuses a stream, since it closes, is asked once more on another connection', async () => {
  const answer = await callTo((stream, count) => {
    if (count === 1) {
      stream.session?.goaway();
      stream.close(7);
      return;
    }
    stream.respond(ok);
    stream.end();
  });
  expect(answer).toMatchObject({ emails: [] });
});

test('a peer that nobody listens for is Unavailable', async () => {
  const transport = transports.lean(await freePort());
  const answer = createClient(AudienceService, transport).listAudience(request('x'));
  await expect(answer).rejects.toMatchObject(unavailable);
});

test('a peer that takes connections and says nothing is Unavailable before the deadline', async () => {
  const mute = createTcpServer((socket) => socket.resume());
  const transport = transports.lean(await listen(mute));
  const answer = createClient(AudienceService, transport).listAudience(request('x'));
  await expect(answer).rejects.toMatchObject(unavailable);
}, 9_000);

test('after a drain the next call makes a new connection', async () => {
  const first = await serveObedient();
  const client = createClient(AudienceService, transports.lean(first.port));
  await client.listAudience(request('first'));
  await first.drain();
  await serveObedient(first.port);
  expect(await client.listAudience(request('second'))).toMatchObject({ emails: ['second'] });
});
