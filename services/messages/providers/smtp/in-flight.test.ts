import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { afterEach, expect, jest, test } from '@jest/globals';
import { listen } from '../../../../test/sink-control.ts';
import { asBytes, closing, givenPool, kinds, mailOf, send } from '../../test/given-pool.ts';
import type { Outgoing } from '../outgoing.ts';

afterEach(() => {
  jest.useRealTimers();
});

/** A server that takes the envelope and leaves what follows to the test. */
async function givenServer(onBody: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.write('220 test\r\n');
    socket.on('data', (bytes) => {
      const isData = bytes.toString('latin1').startsWith('DATA');
      socket.write(isData ? '354 go on\r\n' : '250 ok\r\n');
      if (isData) onBody(socket.removeAllListeners('data'));
    });
  });
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server, 0);
}

/** Resolves once the server has all of a message. */
function bodyRead(socket: Socket, done: () => void): void {
  let end = '';
  socket.on('data', (bytes) => {
    end = (end + bytes.toString('latin1')).slice(-5);
    if (end === '\r\n.\r\n') done();
  });
}

test('a body that was not written in full is sent over another connection', async () => {
  let connections = 0;
  const port = await givenServer((socket) => {
    connections += 1;
    socket.pause();
    setTimeout(() => socket.destroy(), 100);
  });
  const mail = mailOf([asBytes(Buffer.alloc(20 * 1024 * 1024, 'x'))]);
  const pool = givenPool(port, {}, 1);
  const outcomes = await send(pool, [{ to: 'a@example.com', prepare: () => mail }]);
  expect(kinds(outcomes)).toEqual(['deferred']);
  expect(connections).toBe(2);
});

test('the answer to a message may take ten minutes', async () => {
  const read = Promise.withResolvers<void>();
  const port = await givenServer((socket) => bodyRead(socket, read.resolve));
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  const pool = givenPool(port, {}, 1);
  let outcome = 'none';
  const sending = send(pool, ['a@example.com']).then(([first]) => {
    outcome = first?.kind ?? '';
  });
  await read.promise;
  jest.advanceTimersByTime(9.9 * 60_000);
  await new Promise((next) => setImmediate(next));
  expect(outcome).toBe('none');
  jest.advanceTimersByTime(60_000);
  await sending;
  expect(outcome).toBe('unknown');
});

// Only Linux lets a process see the timers of its sockets.
(process.platform === 'linux' ? test : test.skip)('a peer that is dead is found out', async () => {
  const read = Promise.withResolvers<void>();
  const port = await givenServer((socket) => bodyRead(socket, read.resolve));
  const pool = givenPool(port, {}, 1);
  const sending = send(pool, ['a@example.com']);
  await read.promise;
  const keepalive = '02';
  while (timerOfConnectionTo(port) === '01') await new Promise((next) => setTimeout(next, 5));
  expect(timerOfConnectionTo(port)).toBe(keepalive);
  pool.close();
  expect(kinds(await sending)).toEqual(['unknown']);
});

/**
 * The kind of the timer that runs on our end of a connection: 01 for what is not acknowledged yet.
 */
function timerOfConnectionTo(port: number): string | undefined {
  const peer = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return fields.find((row) => row[2]?.endsWith(peer) && row[3] === '01')?.[5]?.slice(0, 2);
}

/** A server that notes what comes after DATA. */
async function givenNotedBodies(onBody: (socket: Socket) => void = () => undefined) {
  const bodies: string[] = [];
  const port = await givenServer((socket) => {
    socket.on('data', (bytes) => bodies.push(bytes.toString('latin1')));
    onBody(socket);
  });
  return { port, bodies };
}

test('a body is not written where its beginning cannot be noted, and nothing of it counts', async () => {
  const { port, bodies } = await givenNotedBodies();
  const begin: Outgoing['begin'] = (write) => setImmediate(() => write(false));
  const outcomes = await send(givenPool(port), [{ to: 'a@example.com', begin }]);
  expect(kinds(outcomes)).toEqual(['not_started']);
  expect(bodies).toEqual([]);
});

test('a body that is stopped while its beginning is noted is not written', async () => {
  const { port, bodies } = await givenNotedBodies();
  const stop = new AbortController();
  const begin: Outgoing['begin'] = (write) => {
    stop.abort();
    setImmediate(() => write(true));
  };
  const outcomes = await send(givenPool(port), [
    { to: 'a@example.com', begin, signal: stop.signal },
  ]);
  expect(kinds(outcomes)).toEqual(['not_started']);
  expect(bodies).toEqual([]);
});

test.each(['250 early\r\n', ''])(
  'a message whose connection ends while its beginning is noted was not sent: %j',
  async (words) => {
    const { port, bodies } = await givenNotedBodies((socket) => socket.end(words));
    const noted: Parameters<NonNullable<Outgoing['begin']>>[0][] = [];
    const begin: Outgoing['begin'] = (write) => noted.push(write);
    const outcomes = await send(givenPool(port), [{ to: 'a@example.com', begin }]);
    for (const write of noted) write(true);
    expect(kinds(outcomes)).toEqual(['deferred']);
    expect(bodies).toEqual([]);
  },
);
