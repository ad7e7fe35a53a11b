import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  type HandlerContext,
  type Interceptor,
  type Transport,
} from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { WorkspaceService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { freePort } from '../../deploy/local/ports.ts';
import { keyring, ownerEverywhere, serviceClaims } from '../../test/setup/service.ts';
import { createLog } from '../log.ts';
import { createKeyring } from '../tokens.ts';
import { connectTo, connectToService } from './client.ts';
import { callRules, serve } from './service.ts';
import { binaryOptions, messageMaxBytes } from './wire.ts';

const options = {
  keyring,
  authorize: ownerEverywhere,
  demo: false,
  reflection: true,
  log: createLog('test', 'silent'),
};
/** Calls that wait, by the name that their request gives them. */
const waiting = new Map<string, PromiseWithResolvers<void>>();
const seen: string[] = [];

/** An operation that does what its request says. */
async function obey({ listId: wish }: { listId: string }, call: HandlerContext) {
  seen.push(wish);
  const [verb, detail = ''] = wish.split(':');
  if (verb === 'fail') throw failure(Number(detail));
  if (verb === 'huge') return { emails: ['x'.repeat(messageMaxBytes)] };
  if (verb === 'wait') {
    waiting.get(wish)?.resolve();
    await new Promise((_, leave) => {
      call.signal.addEventListener('abort', () => leave(call.signal.reason));
    }).finally(() => waiting.get(`${wish} ended`)?.resolve());
  }
  call.responseHeader.set('x-told', call.requestHeader.get('x-asked') ?? '');
  call.responseTrailer.set('x-after', 'all');
  return { emails: [wish] };
}

const failure = (code: Code) =>
  new ConnectError(`it is ${code} – naïve`, code, { 'x-why': 'because' }, [
    { desc: RetryInfoSchema, value: { retryDelay: { seconds: 7n } } },
  ]);

const routes = (router: ConnectRouter) => router.service(AudienceService, { listAudience: obey });

const close: (() => unknown)[] = [];
afterAll(() => Promise.all(close.map((end) => end())));

const servers: Record<string, () => Promise<number>> = {
  async lean() {
    const service = await serve(
      { ...options, services: [AudienceService], routes, isReady: async () => true },
      { host: '127.0.0.1', port: 0 },
    );
    close.push(service.drain);
    return service.port;
  },
  stock: () =>
    listen(
      createServer(
        connectNodeAdapter({
          routes,
          ...callRules(options),
          binaryOptions,
          readMaxBytes: messageMaxBytes,
          writeMaxBytes: messageMaxBytes,
        }),
      ),
    ),
};

const authorization = async () => `Bearer ${await keyring.signToken(serviceClaims, 60)}`;
const withToken: Interceptor = (next) => async (request) => {
  request.header.set('authorization', await authorization());
  return next(request);
};

const transports: Record<string, (port: number) => Transport> = {
  lean: (port) => connectTo(`127.0.0.1:${port}`, { authorization }),
  stock: (port) =>
    createConnectTransport({
      httpVersion: '2',
      baseUrl: `http://127.0.0.1:${port}`,
      interceptors: [withToken],
      binaryOptions,
      readMaxBytes: messageMaxBytes,
    }),
};

async function listen(server: Http2Server | Server): Promise<number> {
  if ('on' in server) server.on('session', (session) => close.push(() => session.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  close.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const request = (listId: string) => ({ workspaceId: 'w1', listId, pageSize: 10 });

const pairs = ['lean', 'stock'].flatMap((client) =>
  ['lean', 'stock'].map((server) => [client, server] as const),
);

describe.each(pairs)('%s transport, %s server:', (transportName, serverName) => {
  let transport: Transport;
  let wish: (listId: string, given?: object) => Promise<unknown>;
  beforeAll(async () => {
    const port = (await servers[serverName]?.()) ?? 0;
    transport = transports[transportName]?.(port) as Transport;
    const client = createClient(AudienceService, transport);
    wish = (listId, given) => client.listAudience(request(listId), given);
  });

  test('a call is answered', async () => {
    expect(await wish('one')).toMatchObject({ emails: ['one'] });
  });

  test('metadata goes both ways', async () => {
    const told: (string | null)[] = [];
    await wish('metadata', {
      headers: { 'x-asked': 'how' },
      onHeader: (header: Headers) => told.push(header.get('x-told')),
      onTrailer: (trailer: Headers) => told.push(trailer.get('x-after')),
    });
    expect(told).toEqual(['how', 'all']);
  });

  const codes = Object.values(Code).filter((code) => typeof code === 'number');
  const said = codes.filter((code) => code !== Code.Internal && code !== Code.Canceled);
  test.each(said)('code %i comes with its text, details and metadata', async (code) => {
    const error = ConnectError.from(await wish(`fail:${code}`).catch((reason) => reason));
    expect(error).toMatchObject({ code, rawMessage: `it is ${code} – naïve` });
    expect(error.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(7n);
    expect(error.metadata.get('x-why')).toBe('because');
  });

  test('an internal error keeps its code and nothing else that was said', async () => {
    const error = ConnectError.from(await wish(`fail:${Code.Internal}`).catch((reason) => reason));
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: 'internal error' });
    expect(error.findDetails(RetryInfoSchema)).toEqual([]);
  });

  /** A name of which a test can learn that the call waits, and that it ended. */
  const givenWait = () => {
    const name = `wait:${crypto.randomUUID()}`;
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    waiting.set(name, begun).set(`${name} ended`, ended);
    return { name, begun: begun.promise, ended: ended.promise };
  };

  test('a call that is late is DeadlineExceeded, and ends at the other side', async () => {
    const { name, ended } = givenWait();
    const late = wish(name, { timeoutMs: 100 });
    await expect(late).rejects.toMatchObject({ code: Code.DeadlineExceeded });
    await ended;
  });

  test('a call that is left before it begins is Canceled and never made', async () => {
    const left = wish('never', { signal: AbortSignal.abort() });
    await expect(left).rejects.toMatchObject({ code: Code.Canceled });
    await wish('after');
    expect(seen).not.toContain('never');
  });

  test('a call that is left while it runs is Canceled, and ends at the other side', async () => {
    const { name, begun, ended } = givenWait();
    const leave = new AbortController();
    const left = expect(wish(name, { signal: leave.signal })).rejects.toMatchObject({
      code: Code.Canceled,
    });
    await begun;
    leave.abort();
    await left;
    await ended;
  });

  test('a message that is too large is ResourceExhausted either way, and the next call works', async () => {
    const exhausted = { code: Code.ResourceExhausted };
    await expect(wish('x'.repeat(messageMaxBytes))).rejects.toMatchObject(exhausted);
    await expect(wish('huge')).rejects.toMatchObject(exhausted);
    expect(await wish('next')).toMatchObject({ emails: ['next'] });
  });

  test('a message of some megabytes arrives whole', async () => {
    const large = 'x'.repeat(5_000_000);
    expect(await wish(large)).toEqual(expect.objectContaining({ emails: [large] }));
  });

  test('a method that is not known there is Unimplemented', async () => {
    const asked = createClient(WorkspaceService, transport).getWorkspace({ id: 'w1' });
    await expect(asked).rejects.toMatchObject({ code: Code.Unimplemented });
  });

  test('more calls at once than a connection has streams are all answered', async () => {
    const calls = Array.from({ length: 1_200 }, (_, number) => wish(`many ${number}`));
    expect(await Promise.all(calls)).toHaveLength(1_200);
  });
});

test('a call without a token is refused while its message is still on its way', async () => {
  const port = (await servers.lean?.()) ?? 0;
  const stranger = createClient(AudienceService, connectTo(`127.0.0.1:${port}`));
  const asked = stranger.listAudience(request('x'.repeat(messageMaxBytes / 2)));
  await expect(asked).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test('large calls and small ones share a connection', async () => {
  const transport = transports.lean?.((await servers.lean?.()) ?? 0) as Transport;
  const client = createClient(AudienceService, transport);
  const wishes = Array.from({ length: 24 }, (_, at) => (at % 2 ? 'x'.repeat(5_000_000) : 'small'));
  const answers = await Promise.all(wishes.map((wish) => client.listAudience(request(wish))));
  expect(answers.map(({ emails }) => emails[0]?.length)).toEqual(
    wishes.map(({ length }) => length),
  );
});

test('a message that is empty arrives, also while the token is still looked at', async () => {
  const service = await serve(
    {
      ...options,
      keyring: createKeyring('a-secret-key-that-verified-nothing-yet'),
      services: [WorkspaceService],
      routes: (router) => router.service(WorkspaceService, { listWorkspaces: () => ({}) }),
      isReady: async () => true,
    },
    { host: '127.0.0.1', port: 0 },
  );
  close.push(service.drain);
  const fresh = createKeyring('a-secret-key-that-verified-nothing-yet');
  const transport = connectToService([`127.0.0.1:${service.port}`], {
    keyring: fresh,
    caller: 'x',
  });
  const answer = createClient(WorkspaceService, transport).listWorkspaces({}, { timeoutMs: 2_000 });
  expect(await answer).toMatchObject({ workspaces: [] });
});

/** What the lean transport makes of a server that behaves like this. */
async function callTo(behave: (stream: ServerHttp2Stream, count: number) => void) {
  let count = 0;
  const server = createServer().on('stream', (stream) => {
    count += 1;
    stream.on('error', () => {});
    stream.resume();
    behave(stream, count);
  });
  const transport = transports.lean?.(await listen(server)) as Transport;
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
  const transport = transports.lean?.(await freePort()) as Transport;
  const answer = createClient(AudienceService, transport).listAudience(request('x'));
  await expect(answer).rejects.toMatchObject(unavailable);
});

test('a peer that takes connections and says nothing is Unavailable before the deadline', async () => {
  const mute = createTcpServer((socket) => close.push(() => socket.destroy()));
  const transport = transports.lean?.(await listen(mute)) as Transport;
  const answer = createClient(AudienceService, transport).listAudience(request('x'));
  await expect(answer).rejects.toMatchObject(unavailable);
}, 9_000);

test('after a drain the next call makes a new connection', async () => {
  const start = (port: number) =>
    serve(
      { ...options, services: [AudienceService], routes, isReady: async () => true },
      { host: '127.0.0.1', port },
    );
  const first = await start(0);
  const client = createClient(AudienceService, transports.lean?.(first.port) as Transport);
  await client.listAudience(request('first'));
  await first.drain();
  const second = await start(first.port);
  close.push(second.drain);
  expect(await client.listAudience(request('second'))).toMatchObject({ emails: ['second'] });
});
