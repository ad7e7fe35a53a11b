import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type FeedRequest = { headers: IncomingHttpHeaders; body: Record<string, unknown> };

export type FeedServer = {
  url: string;
  /** What it was asked, in order. */
  requests: FeedRequest[];
  /** How it answers; a test changes it. */
  behaviour: (request: FeedRequest, response: ServerResponse) => void;
  close(): Promise<void>;
};

/** A tenant's feed on loopback, which answers `{}` until a test says otherwise. */
export async function startFeedServer(): Promise<FeedServer> {
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = { headers: request.headers, body: JSON.parse(String(Buffer.concat(chunks))) };
    server.requests.push(asked);
    server.behaviour(asked, response);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server: FeedServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/feed`,
    requests: [],
    behaviour: (_, response) => response.end('{}'),
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return server;
}
