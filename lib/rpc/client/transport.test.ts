import { type ClientHttp2Session, createServer, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, expect, test } from '@jest/globals';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { freePort } from '../../../deploy/local/ports.ts';
import { until } from '../../../test/stack/until.ts';
import {
  authorization,
  closeAll,
  givenWait,
  listen,
  request,
  serveObedient,
  servers,
  transports,
} from '../../test/obedient-service.ts';
import { type Connection, connectionTo } from './connection.ts';
import { leanTransport } from './transport.ts';

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

// V8 puts them into the old generation, where they would keep the answer until a major collection.
test('an answer has no getters of its own', async () => {
  const transport = transports.lean(await servers.lean());
  const call = [AudienceService.method.listAudience, undefined, 5_000, {}, request('x')] as const;
  const own = Object.entries(Object.getOwnPropertyDescriptors(await transport.unary(...call)));
  expect(own.filter(([, { get }]) => get)).toEqual([]);
});

/** The result of a call by the lean transport to a server that behaves like this. */
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

test('a call that a closing peer refuses is made once more on another connection', async () => {
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

test('a closed port is Unavailable', async () => {
  const transport = transports.lean(await freePort());
  const answer = createClient(AudienceService, transport).listAudience(request('x'));
  await expect(answer).rejects.toMatchObject(unavailable);
});

test('a peer that accepts connections and never answers is Unavailable before the deadline', async () => {
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

test('a connection is replaced after its maximum of calls, loses none, and is closed when its last call ends', async () => {
  const { port } = await serveObedient();
  const connection = connectionTo(`127.0.0.1:${port}`, { callsMax: 10 });
  const sessions = new Set<ClientHttp2Session>();
  const watched: Connection = (headers) => {
    const stream = connection(headers);
    if (stream.session) sessions.add(stream.session as ClientHttp2Session);
    return stream;
  };
  const client = createClient(AudienceService, leanTransport(watched, authorization));
  const { name, begun } = givenWait();
  const leave = new AbortController();
  const waits = client.listAudience(request(name), { signal: leave.signal });
  await begun;
  const wishes = Array.from({ length: 95 }, (_, at) => `wish ${at}`);
  const answers = await Promise.all(wishes.map((wish) => client.listAudience(request(wish))));
  expect(answers.map(({ emails }) => emails[0])).toEqual(wishes);
  expect(sessions.size).toBe(10);
  const [first, ...others] = sessions;
  const old = others.slice(0, -1);
  await until('eight are closed', async () => old.every(({ closed }) => closed), {
    withinMs: 5_000,
  });
  expect([first?.closed, others.at(-1)?.closed]).toEqual([false, false]);
  leave.abort();
  await expect(waits).rejects.toMatchObject({ code: Code.Canceled });
  await until('the first is closed', async () => first?.closed === true, { withinMs: 5_000 });
});

test('a connection that has no stream ids left is replaced, and the call is made on the next', async () => {
  const { port } = await serveObedient();
  const connection = connectionTo(`127.0.0.1:${port}`);
  let session: ClientHttp2Session | undefined;
  const watched: Connection = (headers) => {
    const stream = connection(headers);
    session ??= stream.session as ClientHttp2Session;
    return stream;
  };
  const client = createClient(AudienceService, leanTransport(watched, authorization));
  await client.listAudience(request('first'));
  // Its type is missing in @types/node.
  (session as unknown as { setNextStreamID(id: number): void }).setNextStreamID(2 ** 31 - 1);
  const wishes = ['second', 'third', 'fourth'];
  const answers = await Promise.all(wishes.map((wish) => client.listAudience(request(wish))));
  expect(answers.map(({ emails }) => emails[0])).toEqual(wishes);
  await until('the first is closed', async () => session?.closed === true, { withinMs: 5_000 });
});
