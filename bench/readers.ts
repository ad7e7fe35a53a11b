import { connect, type Socket } from 'node:net';

/**
 * Readers in a process of their own: asks for addresses at a rate, pipelined over a few
 * connections, whether or not the answers keep up, so that a slow server shows. The parent sends
 * the order, and gets the number of answers.
 */
type Order = { port: number; paths: string[]; perSecond: number; forMs: number };

const connections = 16;
const tickMs = 5;
const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
const drainMs = 2_000;

process.on('message', async (order: Order) => process.send?.(await read(order)));
process.on('disconnect', () => process.exit(0));

async function read({ port, paths, perSecond, forMs }: Order) {
  const requests = paths.map((path) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nuser-agent: ${agent}\r\n\r\n`),
  );
  const counts = { asked: 0, good: 0, bad: 0 };
  const sockets = Array.from({ length: connections }, (_, at) => listening(port, at, counts));
  const startedAtMs = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAtMs) * perSecond) / 1_000;
    while (counts.asked < due) {
      sockets[counts.asked % connections]?.write(requests[counts.asked % requests.length] ?? '');
      counts.asked += 1;
    }
  }, tickMs);
  await new Promise((done) => setTimeout(done, forMs));
  clearInterval(timer);
  await new Promise((done) => setTimeout(done, drainMs));
  for (const socket of sockets) socket.destroy();
  return counts;
}

/**
 * Each from an address of its own, as readers are: the gateway shares its places among addresses.
 */
function listening(port: number, at: number, counts: { good: number; bad: number }): Socket {
  const localAddress = `127.0.0.${2 + at}`;
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setNoDelay();
  let rest = '';
  socket.on('data', (chunk) => {
    // The bytes of a picture never look like the start of an answer.
    const text = rest + chunk.toString('latin1');
    const last = text.lastIndexOf('HTTP/1.1 ');
    const end = last < 0 || text.length - last >= 12 ? text.length : last;
    const starts = text.slice(0, end).match(/HTTP\/1\.1 \d{3}/g) ?? [];
    counts.good += starts.filter((start) => /200|302/.test(start)).length;
    counts.bad += starts.filter((start) => !/200|302/.test(start)).length;
    rest = text.slice(Math.max(end, text.length - 8));
  });
  return socket;
}
