import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { ConnectRouter } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import {
  startGateway,
  startService,
  type TestGateway,
  type TestService,
  tokenFor,
} from '../testing.ts';

let service: TestService;
let gateway: TestGateway;
let headers: { authorization: string };
/** The operation's behaviour; a test replaces it. */
let answer: (signal: AbortSignal) => Promise<object>;

const routes = (router: ConnectRouter) =>
  router.service(ContactService, { countContacts: (_request, { signal }) => answer(signal) });

beforeEach(async () => {
  answer = async () => ({ totalContacts: 7 });
  service = await startService(routes);
  // Longer than a test may take, so that an answer cannot have waited for it.
  gateway = await startGateway(service.port, { callTimeoutMs: 60_000 });
  headers = { authorization: `Bearer ${await tokenFor('user-1')}` };
});

afterEach(async () => {
  await gateway.stop();
  await service.stop();
});

const path = '/api/contacts.count?workspace_id=w';
const count = () => fetch(`${gateway.url}${path}`, { headers });

test('a service that is down is a quick 503 with Retry-After, and is called again once it is back', async () => {
  expect((await count()).status).toBe(200);
  await service.stop();
  const down = await count();
  expect(down.status).toBe(503);
  expect(down.headers.get('retry-after')).toBe('1');
  expect(await down.json()).toMatchObject({
    error: 'Failed to count contacts',
    code: 'unavailable',
  });
  service = await startService(routes, service.port);
  expect((await count()).status).toBe(200);
});

test('a service that dies during a call is a 503', async () => {
  const begun = new Promise<void>((resolve) => {
    answer = (signal) => {
      resolve();
      return until(signal);
    };
  });
  const response = count();
  await begun;
  await service.stop();
  expect((await response).status).toBe(503);
});

test('a service that does not answer in time is a 504, and its call is ended', async () => {
  await gateway.stop();
  gateway = await startGateway(service.port, { callTimeoutMs: 300 });
  let ended: Promise<unknown> | undefined;
  answer = (signal) => {
    ended = once(signal, 'abort');
    return until(signal);
  };
  const response = await count();
  expect(response.status).toBe(504);
  expect(await response.json()).toMatchObject({
    error: 'Failed to count contacts',
    code: 'deadline_exceeded',
  });
  await ended;
});

test('a client that goes away ends its call', async () => {
  const client = new AbortController();
  const ended = new Promise<void>((resolve) => {
    answer = async (signal) => {
      signal.addEventListener('abort', () => resolve());
      client.abort();
      return until(signal);
    };
  });
  await expect(
    fetch(`${gateway.url}${path}`, { headers, signal: client.signal }),
  ).rejects.toThrow();
  await ended;
  expect(gateway.logged).toEqual([]);
});

test('draining finishes requests in progress, refuses new connections, and reports it', async () => {
  let finish = () => {};
  const begun = new Promise<void>((resolve) => {
    answer = () => {
      resolve();
      return new Promise((done) => {
        finish = () => done({ totalContacts: 9 });
      });
    };
  });
  const under = count();
  await begun;
  const drained = gateway.drain(5_000);
  await refused();
  finish();
  const response = await under;
  expect(response.headers.get('connection')).toBe('close');
  expect(await response.json()).toEqual({ total_contacts: 9 });
  await drained;
});

test('draining answers whoever connected before it, though the process was too busy to notice', async () => {
  const clients = clientsOfAnotherThread(20, gateway.port);
  // Blocks the gateway until all are connected.
  expect(Atomics.wait(clients.connected, 0, 0, 10_000)).toBe('ok');
  const drained = gateway.drain(5_000);
  expect(await clients.answers).toEqual(Array(20).fill('HTTP/1.1 503 Service Unavailable'));
  await drained;
});

test('draining ends requests that take too long', async () => {
  const begun = new Promise<void>((resolve) => {
    answer = (signal) => {
      resolve();
      return until(signal);
    };
  });
  const under = expect(count()).rejects.toThrow();
  await begun;
  await gateway.drain(50);
  await under;
});

test('healthz answers ok without any service', async () => {
  await service.stop();
  const response = await fetch(`${gateway.url}/healthz`);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ status: 'ok' });
  service = await startService(routes, service.port);
});

test('a request that arrives too slowly is a 408', async () => {
  await gateway.stop();
  gateway = await startGateway(service.port, { requestTimeoutMs: 200 });
  const slow = request(`${gateway.url}/api/contacts.upsert`, {
    method: 'POST',
    headers: { ...headers, 'content-length': 100 },
  });
  slow.on('error', () => {});
  slow.write('{');
  const [response] = await once(slow, 'response');
  expect(response.statusCode).toBe(408);
  slow.destroy();
});

/** Nobody can connect any more. */
async function refused(): Promise<void> {
  while (await fetch(`${gateway.url}/healthz`).catch(() => undefined)) await sleep(1);
}

/**
 * Asks for `/healthz` on `count` connections at the same time; answers with the first line of each
 * answer.
 */
function clientsOfAnotherThread(count: number, port: number) {
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { connect } = require('node:net');
    const { parentPort, workerData: { count, port, connected } } = require('node:worker_threads');
    const answers = [];
    const tell = (answer) => answers.push(answer) === count && parentPort.postMessage(answers);
    let open = 0;
    for (let at = 0; at < count; at += 1) {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write('GET /healthz HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n');
        open += 1;
        if (open === count) {
          Atomics.store(connected, 0, 1);
          Atomics.notify(connected, 0);
        }
      });
      socket.once('data', (data) => tell(String(data).split('\\r\\n', 1)[0]));
      socket.once('error', (error) => tell(error.code));
    }`,
    { eval: true, workerData: { count, port, connected } },
  );
  const answers = once(worker, 'message').then(async ([lines]) => {
    await worker.terminate();
    return lines;
  });
  return { connected, answers };
}

function until(signal: AbortSignal): Promise<object> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
