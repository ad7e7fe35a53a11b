import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';

export type FeedRequest = { headers: IncomingHttpHeaders; body: Record<string, unknown> };

export type FeedServer = {
  url: string;
  /** The requests, in order. */
  requests: FeedRequest[];
  /** Answers a request; tests replace it. */
  behaviour: (request: FeedRequest, response: ServerResponse) => void;
  close(): Promise<void>;
};

/** A tenant's feed on loopback, which answers `{}` by default. */
export async function startFeedServer(server = {} as FeedServer): Promise<FeedServer> {
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = { headers: request.headers, body: JSON.parse(String(Buffer.concat(chunks))) };
    server.requests.push(asked);
    server.behaviour(asked, response);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return Object.assign(server, {
    requests: [],
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/feed`,
    behaviour: (_: FeedRequest, response: ServerResponse) => response.end('{}'),
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  });
}

/**
 * A feed for all tests of a file; before each test it forgets its requests and answers `body`
 * again.
 */
export function useFeedServer(body: string): FeedServer {
  const server = {} as FeedServer;
  beforeAll(() => startFeedServer(server));
  beforeEach(() => {
    server.requests.length = 0;
    server.behaviour = (_, response) => response.end(body);
  });
  afterAll(() => server.close());
  return server;
}
