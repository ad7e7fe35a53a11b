import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';

/**
 * An endpoint in a process of its own, which notes when each callback has arrived, beside one that
 * never answers. Sends both ports to its parent; answers each message with what came since the last
 * one.
 */
export type Arrival = {
  id: string;
  /** Unix milliseconds, with fractions. */
  atMs: number;
  /** When the contact was changed, as the data say; NaN if they don't. */
  changedAtMs: number;
  sizeBytes: number;
};

let arrivals: Arrival[] = [];
const nowMs = () => performance.timeOrigin + performance.now();

const good = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    note(request, Buffer.concat(chunks));
    response.writeHead(200, { 'content-length': 2 });
    response.end('ok');
  });
});
good.keepAliveTimeout = 60_000;

function note({ headers }: IncomingMessage, body: Buffer): void {
  const text = body.toString('latin1');
  const [, changedAt = ''] = /"updated_at" ?: ?"([^"]+)"/.exec(text) ?? [];
  arrivals.push({
    id: String(headers['webhook-id']),
    atMs: nowMs(),
    changedAtMs: Date.parse(changedAt),
    sizeBytes: body.length,
  });
}

const silent = createTcpServer((socket) => socket.on('error', () => {}).resume());

good.listen(0, '127.0.0.1', 2_000, () =>
  silent.listen(0, '127.0.0.1', 2_000, () =>
    process.send?.({
      good: (good.address() as AddressInfo).port,
      silent: (silent.address() as AddressInfo).port,
    }),
  ),
);
process.on('message', () => {
  process.send?.(arrivals);
  arrivals = [];
});
process.on('disconnect', () => process.exit(0));
