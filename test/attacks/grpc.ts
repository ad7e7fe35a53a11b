import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { Running } from './flood.ts';

const attackerAddress = '127.0.0.2';
const againMs = 1_000;
const method = '/postrider.contacts.v1.ContactService/ListContacts';

/** Calls with large messages that never end. */
export function endlessBodies(
  port: number,
  { token, count, bytes }: { token: string; count: number; bytes: number },
): Running {
  const chunk = Buffer.alloc(64 * 1024);
  return keepOpen(count, () => {
    const session = connectFrom(port);
    session.once('connect', () => {
      const stream = session.request({
        ':method': 'POST',
        ':path': method,
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${token}`,
      });
      stream.on('error', () => {}).resume();
      const head = Buffer.alloc(5);
      head.writeUInt32BE(bytes, 1);
      stream.write(head);
      let left = bytes - 1;
      const write = () => {
        while (left > 0 && !stream.destroyed) {
          const part = chunk.subarray(0, Math.min(left, chunk.length));
          left -= part.length;
          if (!stream.write(part)) return stream.once('drain', write);
        }
        return undefined;
      };
      write();
    });
    return session;
  });
}

function connectFrom(port: number): ClientHttp2Session {
  const address = { host: '127.0.0.1', port, localAddress: attackerAddress };
  return connect(`http://127.0.0.1:${port}`, { createConnection: () => connectSocket(address) });
}

function keepOpen(count: number, open: () => ClientHttp2Session): Running {
  const sessions = new Set<ClientHttp2Session>();
  let isStopped = false;
  const begin = () => {
    const session = open();
    sessions.add(session);
    session.on('error', () => {});
    session.once('close', () => {
      sessions.delete(session);
      if (!isStopped) setTimeout(begin, againMs).unref();
    });
  };
  for (let each = 0; each < count; each += 1) begin();
  return {
    tally: new Map(),
    async stop() {
      isStopped = true;
      for (const session of sessions) session.destroy();
    },
  };
}
