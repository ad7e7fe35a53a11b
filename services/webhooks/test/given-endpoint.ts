import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll } from '@jest/globals';

export type Received = { headers: IncomingMessage['headers']; body: string; attempt: number };

const servers: Server[] = [];

afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

export async function urlOf(server: Server, scheme = 'http'): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=1`;
}

/** The answers of an endpoint, by the number of the callback from 1; 200 if undefined. */
type Answer = (
  received: Received,
  count: number,
) => number | undefined | Promise<number | undefined>;

/** A real HTTP endpoint that keeps what it receives, and answers as the test says at the moment. */
export async function givenEndpoint(answer: Answer = () => 200) {
  const endpoint = { url: '', received: [] as Received[], answer };
  const handle: RequestListener = async (request, response) => {
    const body = await text(request);
    const attempt = Number(request.headers['postrider-attempt']);
    const received = { headers: request.headers, body, attempt };
    const count = endpoint.received.push(received);
    response.statusCode = (await endpoint.answer(received, count)) ?? 200;
    response.end('thanks');
  };
  endpoint.url = await urlOf(createServer((request, response) => void handle(request, response)));
  return endpoint;
}

export type GivenEndpoint = Awaited<ReturnType<typeof givenEndpoint>>;
