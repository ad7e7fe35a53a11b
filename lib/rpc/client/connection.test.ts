import { once } from 'node:events';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { connectionTo } from './connection.ts';

const sockets = new Set<Socket>();
const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const headerBytes = 9;
const ping = 6;

/** HTTP/2 frames of a server without its answers to pings. */
function withoutPongs(): (bytes: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const kept: Buffer[] = [];
    while (rest.length >= headerBytes) {
      const size = headerBytes + rest.readUIntBE(0, 3);
      if (rest.length < size) break;
      if (rest[3] !== ping) kept.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    return Buffer.concat(kept);
  };
}

/** A server that answers calls and no pings; /late is answered after `lateMs`. */
async function givenBusyServer(lateMs: number) {
  const sessions: unknown[] = [];
  const server = createHttp2Server();
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const answer = () => stream.respond({ ':status': 200 }, { endStream: true });
    if (headers[':path'] !== '/late') return answer();
    const timer = setTimeout(answer, lateMs);
    stream.once('close', () => clearTimeout(timer));
  });
  const port = await listening(server as unknown as Server);
  const between = createServer((socket) => {
    const there = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.add(there);
    const kept = withoutPongs();
    socket.pipe(there);
    there.on('data', (bytes: Buffer) => socket.write(kept(bytes)));
  });
  return { address: `127.0.0.1:${await listening(between)}`, sessions };
}

const lateMs = 7_000;

test('a connection on which calls are answered is kept, however late the answer to a ping', async () => {
  const { address, sessions } = await givenBusyServer(lateMs);
  const request = connectionTo(address);
  const late = once(request({ ':path': '/late' }), 'response');
  const calling = setInterval(() => request({ ':path': '/' }).resume(), 200);
  try {
    await expect(late).resolves.toEqual([
      expect.objectContaining({ ':status': 200 }),
      expect.anything(),
      expect.anything(),
    ]);
  } finally {
    clearInterval(calling);
  }
  expect(sessions).toHaveLength(1);
}, 20_000);

test('a connection on which nothing arrives is given up within seconds', async () => {
  const { address } = await givenBusyServer(lateMs);
  const request = connectionTo(address);
  const startedAtMs = Date.now();
  await once(request({ ':path': '/late' }), 'close');
  expect(Date.now() - startedAtMs).toBeLessThan(lateMs);
}, 20_000);
