import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { createEgress } from './egress.ts';
import type { OutsideAddress } from './names/target.ts';

const closed = createEgress({ allow: [], dnsServers: [] });
const open = createEgress({ allow: ['127.0.0.0/8'], dnsServers: [] });
const servers: Server[] = [];

afterAll(async () => {
  await Promise.all([closed.close(), open.close()]);
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function givenServer(answer: RequestListener, address = '127.0.0.1'): Promise<number> {
  const server = createServer(answer).listen(0, address);
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const workspaceId = 'a';
const get = {
  workspaceId,
  method: 'GET' as const,
  headers: {},
  timeoutMs: 2_000,
  sizeMaxBytes: 1_000,
};
const refused = { name: 'EgressError' };

test.each([
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '168.63.129.16',
  '::ffff:168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.64.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '[::1]',
  '::ffff:127.0.0.1',
  '[::ffff:10.0.0.1]',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  'fc00::1',
  'fe80::1',
  'fe80::1%lo',
  'ff02::1',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  'localhost',
  'localhost.',
  'LOCALHOST',
  '',
  '.',
  'a b',
  'a/b',
  'a@b',
  `${'a'.repeat(254)}`,
])('the host %p is refused', async (host) => {
  await expect(closed.resolve(host, workspaceId)).rejects.toMatchObject(refused);
});

test.each([
  ['1.1.1.1', { address: '1.1.1.1', family: 4 }],
  ['2606:4700::1111', { address: '2606:4700::1111', family: 6 }],
  ['[2606:4700::1111]', { address: '2606:4700::1111', family: 6 }],
])('the public address %s may be called', async (host, target) => {
  expect(await closed.resolve(host, workspaceId)).toEqual(target);
});

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://localhost/',
  'https://169.254.169.254/latest/meta-data/',
  'http://user@1.1.1.1/',
  'http://user:secret@1.1.1.1/',
  'file:///etc/passwd',
  'gopher://1.1.1.1/',
  'ftp://1.1.1.1/',
  'data:text/plain,x',
])('a call to %s is refused before anything is sent', async (url) => {
  await expect(closed.call({ ...get, url })).rejects.toMatchObject(refused);
});

test('a refusal names neither the host nor the address', async () => {
  const failure = await closed
    .call({ ...get, url: 'http://10.1.2.3/hook' })
    .catch((error) => error);
  expect(String(failure.message)).not.toMatch(/10\.1\.2\.3|hook/);
});

test('an operator can allow a range, and only that one is allowed', async () => {
  const port = await givenServer((_, answer) => answer.end('hello'));
  const answer = await open.call({ ...get, url: `http://127.0.0.1:${port}/` });
  expect({ status: answer.status, body: String(answer.body) }).toEqual({
    status: 200,
    body: 'hello',
  });
  await expect(open.resolve('10.0.0.1', workspaceId)).rejects.toMatchObject(refused);
  await expect(open.resolve('::1', workspaceId)).rejects.toMatchObject(refused);
});

test.each([
  ['127.0.0.1', true],
  ['10.0.0.1', false],
  ['1.1.1.1', false],
  ['[::1]', false],
  ['localhost', false],
])('whether %s is allowed by the operator: %p', (host, isOpened) => {
  expect(open.opens(host)).toBe(isOpened);
});

test('a call ends when its caller aborts it', async () => {
  const port = await givenServer(() => {});
  const stop = new AbortController();
  const call = open.call({ ...get, signal: stop.signal, url: `http://127.0.0.1:${port}/` });
  stop.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
});

test('a call to a closed port fails', async () => {
  const gone = open.call({ ...get, url: 'http://127.0.0.1:1/' });
  await expect(gone).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test.each([301, 302, 303, 307, 308])(
  'a redirect by %i is returned, not followed',
  async (status) => {
    let followed = 0;
    const target = await givenServer((_, answer) => {
      followed += 1;
      answer.end();
    });
    const port = await givenServer((_, answer) => {
      answer.writeHead(status, { location: `http://127.0.0.1:${target}/` }).end();
    });
    const answer = await open.call({ ...get, url: `http://127.0.0.1:${port}/` });
    expect(answer.status).toBe(status);
    expect(followed).toBe(0);
  },
);

test('an endless body is read up to the limit', async () => {
  const port = await givenServer((request, answer) => {
    const writing = setInterval(() => answer.write('x'.repeat(10_000)), 1);
    request.socket.on('close', () => clearInterval(writing));
  });
  const answer = await open.call({ ...get, url: `http://127.0.0.1:${port}/` });
  expect({ size: answer.body.length, truncated: answer.truncated }).toEqual({
    size: 1_000,
    truncated: true,
  });
});

test('a body of exactly the limit is complete', async () => {
  const port = await givenServer((_, answer) => answer.end('x'.repeat(1_000)));
  const answer = await open.call({ ...get, url: `http://127.0.0.1:${port}/` });
  expect({ size: answer.body.length, truncated: answer.truncated }).toEqual({
    size: 1_000,
    truncated: false,
  });
});

test.each([
  ['never answers', (): void => {}],
  [
    'drips its body',
    (request: Parameters<RequestListener>[0], answer: Parameters<RequestListener>[1]): void => {
      const writing = setInterval(() => answer.write('x'), 20);
      request.socket.on('close', () => clearInterval(writing));
    },
  ],
])('a call to a server that %s ends in time', async (_, behave) => {
  const port = await givenServer(behave);
  const call = open.call({ ...get, timeoutMs: 300, url: `http://127.0.0.1:${port}/` });
  await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
});

/** Resolves names to the given addresses, one answer after the other; the last one stays. */
function givenNames(...answers: string[][]) {
  let asked = 0;
  const resolve = async (): Promise<OutsideAddress[]> => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { resolve, mailHosts: async () => [], close: () => {}, asked: () => asked };
}

test('a name is called at the address that was checked, even if it resolves to another one a moment later', async () => {
  const seen: string[] = [];
  const port = await givenServer((request, answer) => {
    seen.push(`${request.socket.localAddress} ${request.headers.host}`);
    answer.end();
  }, '0.0.0.0');
  const names = givenNames(['127.0.0.2'], ['127.0.0.1']);
  const egress = createEgress({ allow: ['127.0.0.2/32'], dnsServers: [] }, names);
  await egress.call({ ...get, url: `http://rebind.example:${port}/` });
  expect(seen).toEqual([`127.0.0.2 rebind.example:${port}`]);
  expect(names.asked()).toBe(1);
  await egress.close();
});

test('a name that resolves to a private address only when it is called is refused', async () => {
  let reached = 0;
  const port = await givenServer((_, answer) => {
    reached += 1;
    answer.end();
  });
  const names = givenNames(['1.1.1.1'], ['127.0.0.1']);
  const egress = createEgress({ allow: [], dnsServers: [] }, names);
  expect(await egress.resolve('rebind.example', workspaceId)).toEqual({
    address: '1.1.1.1',
    family: 4,
  });
  const call = egress.call({ ...get, url: `http://rebind.example:${port}/` });
  await expect(call).rejects.toMatchObject(refused);
  await expect(egress.resolve('rebind.example', workspaceId)).rejects.toMatchObject(refused);
  expect(reached).toBe(0);
  await egress.close();
});

test('the public one of several addresses is called', async () => {
  const names = givenNames(['10.0.0.1', '::1', '1.1.1.1']);
  const egress = createEgress({ allow: [], dnsServers: [] }, names);
  expect(await egress.resolve('mixed.example', workspaceId)).toEqual({
    address: '1.1.1.1',
    family: 4,
  });
  await egress.close();
});
