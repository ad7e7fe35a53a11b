import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '../stack/until.ts';
import { givenSignedIn } from './given-relay.ts';

/*
 * The relay is in a process of its own here: a fault of Node's TLS would end that of the tests.
 */

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Relay = { process: ChildProcess; smtp: number; smtps: number };

async function givenProcess(...proxies: string[]): Promise<Relay> {
  const child = fork(join(import.meta.dirname, 'relay-process.ts'), proxies);
  closing.unshift(() => child.kill('SIGKILL'));
  const [ports] = (await once(child, 'message')) as [{ smtp: number; smtps: number }];
  return { process: child, ...ports };
}

/** Connected, and never read to its end by itself. */
async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  closing.unshift(() => socket.destroy());
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

async function afterStartTls(port: number): Promise<Socket> {
  const socket = await connected(port);
  socket.write('EHLO x\r\nSTARTTLS\r\n');
  await Promise.race([
    once(socket.setEncoding('latin1'), 'data'),
    once(socket, 'close'),
    sleep(200),
  ]);
  return socket;
}

/** Its process lives, and greets by TLS. */
async function expectServed({ process: child, smtps }: Relay, header = ''): Promise<void> {
  await until(
    'a new client is served',
    async () => {
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
      const socket = await connected(smtps);
      socket.write(header);
      const secure = connectTls({ socket, rejectUnauthorized: false });
      // A refused one ends with an error: its place is not free yet.
      const greeted = once(secure, 'data').catch(() => []);
      const [greeting] = await Promise.race([greeted, once(socket, 'close')]);
      secure.destroy();
      return `${greeting}`.startsWith('220 ');
    },
    { withinMs: 15_000 },
  );
}

/** The first bytes that a client of TLS sends. */
let hello: Buffer;
beforeAll(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connectTls({ port, host: '127.0.0.1' }).on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  server.close();
});

const many = Array.from({ length: 24 }, (_, at) => at);

test('connections to the port of TLS beyond the limit are refused, and the process lives', async () => {
  const relay = await givenProcess();
  const kept = await Promise.all([1, 2, 3].map(() => givenSignedIn(relay.smtp)));
  for (const at of many) {
    const socket = await connected(relay.smtps);
    if (at % 2 === 0) socket.write(hello.subarray(0, at * 20));
  }
  expect(relay.process.signalCode).toBeNull();
  for (const { socket } of kept) socket.destroy();
  await expectServed(relay);
});

test('connections that give way within their TLS handshake leave the process alive', async () => {
  const relay = await givenProcess();
  await Promise.all(
    many.map(async (at) => (await connected(relay.smtps)).write(hello.subarray(0, at * 10 + 1))),
  );
  for (const at of many.slice(0, 8)) {
    const socket = await afterStartTls(relay.smtp);
    socket.write(hello.subarray(0, at * 40));
  }
  await expectServed(relay);
});

test('clients that break off, end or speak no TLS within a handshake leave the process alive', async () => {
  const relay = await givenProcess();
  for (const at of many) {
    const socket = at % 2 === 0 ? await connected(relay.smtps) : await afterStartTls(relay.smtp);
    socket.write(at % 3 === 0 ? 'EHLO x\r\n'.repeat(at + 1) : hello.subarray(0, at * 20));
    if (at % 5 > 1) await sleep(2);
    if (at % 4 > 1) socket.resetAndDestroy();
    else socket.end();
  }
  await expectServed(relay);
});

test('a handshake that never ends is ended in time, however its bytes come', async () => {
  const relay = await givenProcess();
  for (const open of [() => connected(relay.smtps), () => afterStartTls(relay.smtp)]) {
    const socket = await open();
    let at = 0;
    const drip = setInterval(() => {
      socket.write(hello.subarray(at, at + 1));
      at += 1;
    }, 50);
    closing.unshift(() => clearInterval(drip));
    await until('the connection is ended', async () => socket.destroyed, { withinMs: 15_000 });
  }
  await expectServed(relay);
});

test('a certificate that changes within handshakes leaves the process alive', async () => {
  const relay = await givenProcess();
  for (const at of many) {
    const socket = await connected(relay.smtps);
    socket.write(hello.subarray(0, 100));
    relay.process.send('reload');
    socket.write(hello.subarray(100));
    if (at % 2 === 0) socket.resetAndDestroy();
  }
  await expectServed(relay);
});

const header = 'PROXY TCP4 203.0.113.7 198.51.100.1 5000 465\r\n';

test('load balancers that break off within a header or a handshake leave the process alive', async () => {
  const relay = await givenProcess('127.0.0.1');
  for (const at of many) {
    const socket = await connected(at % 2 === 0 ? relay.smtps : relay.smtp);
    const bytes = Buffer.concat([Buffer.from(header), hello]);
    socket.write(bytes.subarray(0, at * 10 + 1));
    if (at % 3 === 0) await sleep(2);
    if (at % 4 > 1) socket.resetAndDestroy();
    else socket.end();
  }
  await expectServed(relay, header);
});

test('a stop ends connections before and within their TLS handshake at once', async () => {
  const relay = await givenProcess();
  const exited = once(relay.process, 'exit');
  (await connected(relay.smtps)).write(hello);
  (await connected(relay.smtps)).write(hello.subarray(0, 50));
  await afterStartTls(relay.smtp);
  relay.process.send('stop');
  // Taken or refused: it may have stopped listening by then.
  await connected(relay.smtps).catch(() => {});
  expect(await exited).toEqual([0, null]);
});
