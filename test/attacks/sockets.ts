import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import type { Running } from './flood.ts';

const attackerAddress = '127.0.0.2';

/** Connections to the gateway that send the head of a request and nothing more, opened again when they are closed. */
export function idleSockets(baseUrl: string, count: number): Running {
  const { port, hostname } = new URL(baseUrl);
  let isStopped = false;
  const open = new Set<ReturnType<typeof connect>>();
  const begin = () => {
    const socket = connect({ port: Number(port), host: hostname, localAddress: attackerAddress });
    open.add(socket);
    socket.on('error', () => {}).resume();
    socket.once('connect', () =>
      socket.write('POST /api/contacts.upsert HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'),
    );
    socket.once('close', () => {
      open.delete(socket);
      if (!isStopped) setTimeout(begin, 1_000).unref();
    });
  };
  for (let each = 0; each < count; each += 1) begin();
  return {
    tally: new Map(),
    async stop() {
      isStopped = true;
      for (const socket of open) socket.destroy();
    },
  };
}

/** Watches of a service's health over one connection, as many as it takes. */
export function idleStreams(port: number, count: number): Running {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  session.once('connect', () => {
    for (let each = 0; each < count && !session.destroyed; each += 1) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/grpc.health.v1.Health/Watch',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      stream.on('error', () => {});
      stream.resume().write(Buffer.alloc(5));
    }
  });
  return {
    tally: new Map(),
    async stop() {
      session.destroy();
    },
  };
}
