import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { Sink } from './sink.ts';

export function listen(server: Server, port: number): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, '127.0.0.1', 1024, () => done((server.address() as AddressInfo).port));
  });
}

/**
 * GET /status, GET /recipient?email=, GET /bodies?to=, GET /duplicates, GET /times?prefix= (of the
 * first mail to each address), POST /behaviour (JSON, merged), POST /reset.
 */
export function startControl(sink: Sink, port: number): Promise<number> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://sink');
    const answer = (body: unknown) => response.end(JSON.stringify(body));
    if (url.pathname === '/recipient') {
      return answer(
        sink.received.get(url.searchParams.get('email')?.toLowerCase() ?? '') ?? {
          count: 0,
          messageIds: [],
        },
      );
    }
    if (url.pathname === '/bodies') {
      return answer(sink.bodies(url.searchParams.get('to') ?? undefined));
    }
    if (url.pathname === '/duplicates') {
      return answer(
        sink
          .duplicates()
          .slice(0, 1_000)
          .map((email) => ({ email, ...sink.received.get(email) })),
      );
    }
    if (url.pathname === '/times') {
      const prefix = url.searchParams.get('prefix') ?? '';
      const own = [...sink.received].filter(([email]) => email.startsWith(prefix));
      return answer(Object.fromEntries(own.map(([email, { atMs }]) => [email, atMs])));
    }
    if (url.pathname === '/reset') sink.reset();
    if (url.pathname === '/behaviour' && request.method === 'POST') {
      let text = '';
      for await (const chunk of request) text += chunk;
      Object.assign(sink.behaviour, JSON.parse(text));
    }
    return answer(status(sink));
  });
  return listen(server, port);
}

function status(sink: Sink) {
  return {
    total: sink.total(),
    recipients: sink.received.size,
    connections: sink.connections(),
    connections_peak: sink.connectionsPeak(),
    first_at_ms: sink.firstAtMs(),
    received_at_ms: sink.receivedAtMs(),
    cpu_ms: Math.round(process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000),
    rss_mb: Math.round(process.memoryUsage().rss / 1e6),
    behaviour: sink.behaviour,
  };
}
