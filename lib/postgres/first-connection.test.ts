import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { givenStore, service } from '../test/given.ts';
import { firstConnection } from './first-connection.ts';
import { openStore, type Store } from './store.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

/** The database behind a server that leaves the first connections without an answer. */
async function givenLateDatabase(unanswered: number) {
  const url = new URL(store.url);
  const [port, host] = [Number(url.port), url.hostname];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    accepted += 1;
    if (accepted <= unanswered) return;
    const database = connect(port, host);
    socket.pipe(database.on('error', () => {})).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url.port = `${typeof address === 'object' ? address?.port : 0}`;
  const late = await openStore({ name: service, url: url.href, entities: [], migrations: {} });
  const close = async () => {
    await late.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { late, accepted: () => accepted, close };
}

test('a process that starts on a busy machine tries a connection that took too long again', async () => {
  const { late, accepted, close } = await givenLateDatabase(1);
  await firstConnection(late);
  expect(accepted()).toBe(2);
  await close();
});

test('a process that starts does not try a database that refuses it again', async () => {
  const url = new URL(store.url);
  url.pathname = '/nowhere';
  const wrong = await openStore({ name: service, url: url.href, entities: [], migrations: {} });
  let tries = 0;
  const ping = () => {
    tries += 1;
    return wrong.ping();
  };
  await expect(firstConnection({ ping })).rejects.toThrow('nowhere');
  expect(tries).toBe(1);
  await wrong.close();
});
