import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { verifyWebhook } from '../../typescript/src/webhooks.ts';
import { forward, ServerDownError } from './local-server.ts';

let end = () => {};
afterEach(() => end());

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const event = {
  id: '01a2b3c4-0000-7000-8000-000000000001',
  type: 'contact.created',
  timestamp: '2026-11-27T04:12:33.123456Z',
  data: { email: 'ädä@example.com' },
};

async function givenServer(answer: RequestListener) {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  end = () => {
    server.closeAllConnections();
    server.close();
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hooks?key=1`, secret, workspaceId: 'w1' };
}

test('an event comes as a webhook: body, headers and signature', async () => {
  let seen: unknown;
  const server = await givenServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { headers, url, method } = request;
    seen = { method, url, event: await verifyWebhook({ body, headers, secret }) };
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Postrider-Webhooks/1',
      'postrider-attempt': '1',
    });
    response.end();
  });
  expect(await forward(server, event)).toMatchObject({ status: 200 });
  expect(seen).toEqual({
    method: 'POST',
    url: '/hooks?key=1',
    event: { ...event, workspace_id: 'w1' },
  });
});

test('a redirect is an answer, and leads nowhere', async () => {
  let calls = 0;
  const server = await givenServer((_, response) => {
    calls += 1;
    response.writeHead(307, { location: '/other' }).end();
  });
  expect(await forward(server, event)).toMatchObject({ status: 307 });
  expect(calls).toBe(1);
});

test('a body without an end is not read', async () => {
  const server = await givenServer((_, response) => {
    response.writeHead(200);
    const more = () => {
      if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(more));
    };
    more();
  });
  expect(await forward(server, event)).toMatchObject({ status: 200 });
});

test('a server that is not there is down, and so is one that goes away, three times', async () => {
  let calls = 0;
  const server = await givenServer((request) => {
    calls += 1;
    request.socket.destroy();
  });
  for (const attempt of [1, 2]) {
    const sent = forward(server, event, { attempt });
    await expect(sent).rejects.toMatchObject({ wasCalled: true });
  }
  const last = await forward(server, event, { attempt: 3 });
  expect(last.status).toBeUndefined();
  expect(last.error).toMatch(/SOCKET|ECONNRESET/);
  expect(calls).toBe(3);
  end();
  await expect(forward(server, event)).rejects.toThrow(ServerDownError);
  await expect(forward(server, event)).rejects.toMatchObject({ wasCalled: false });
});

test('an answer that is no HTTP, or has endless headers, is none', async () => {
  const server = await givenServer((request) => {
    request.socket.end('HELLO\r\n\r\n');
  });
  expect(await forward(server, event)).toMatchObject({ error: expect.any(String) });
  end();
  const long = await givenServer((request) => {
    request.socket.end(`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(100_000)}\r\n\r\n`);
  });
  expect(await forward(long, event)).toMatchObject({ error: expect.any(String) });
});

test('a server that hangs has answered nothing in time, and the event is not sent again', async () => {
  let calls = 0;
  const server = await givenServer((_, response) => {
    calls += 1;
    if (calls === 2) response.writeHead(200, { 'content-length': '10' }).write('a');
  });
  const late = await forward(server, event, { timeoutMs: 500 });
  expect(late).toMatchObject({ error: 'no answer within 0.5 s' });
  expect(late.ms).toBeGreaterThanOrEqual(490);
  // Its head is enough.
  expect(await forward(server, event)).toMatchObject({ status: 200 });
});

test('a listening that ends leaves an open call', async () => {
  const server = await givenServer(() => {});
  const stop = new AbortController();
  const sent = forward(server, event, { signal: stop.signal });
  stop.abort();
  await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
});
