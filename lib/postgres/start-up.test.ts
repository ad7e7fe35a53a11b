import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { until } from '../../test/stack/until.ts';
import { runJobs } from '../jobs/jobs.ts';
import { createLog } from '../log.ts';
import { givenStore, service } from '../test/given.ts';
import { openStore, type Store } from './store.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

/** Parameters of a connection's start-up message, by name. */
type StartUp = Record<string, string | undefined>;

/** A server that notes start-up messages and closes the connections. */
async function givenListener() {
  const startUps: StartUp[] = [];
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', (message) => {
      const words = message.subarray(8).toString().split('\0');
      const names = words.filter((word, at) => at % 2 === 0 && word !== '');
      startUps.push(
        Object.fromEntries(names.map((name) => [name, words[words.indexOf(name) + 1]])),
      );
      socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { startUps, server, url: `postgresql://mail:secret@127.0.0.1:${port}/mail` };
}

test('connections begin with nothing that a pooler refuses', async () => {
  const { startUps, server, url } = await givenListener();
  const closed = await openStore({ name: service, url, entities: [], migrations: {} });
  await expect(closed.ping()).rejects.toThrow();
  const log = createLog('test', 'silent');
  const runner = runJobs({ url, service, tasks: {}, log });
  await until('jobs have tried to connect', async () => startUps.length > 1);
  await runner.stop();
  await closed.close();
  server.close();
  // pgbouncer knows these, and refuses all others but those in `ignore_startup_parameters`.
  const known = ['user', 'database', 'application_name', 'client_encoding'];
  const names = new Set(startUps.flatMap((each) => Object.keys(each)));
  expect([...names].filter((name) => !known.includes(name))).toEqual([]);
});

const settingOf = async (url: string, name: string): Promise<string> => {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(`show ${name}`)).rows[0][name];
  } finally {
    await client.end();
  }
};

test('migrating gives the role the settings that its connections need, unless it has its own', async () => {
  const database = new URL(store.url).pathname.slice(1);
  const set = `alter role current_user in database ${database} set`;
  const reset = `alter role current_user in database ${database} reset all`;
  const client = new pg.Client(store.url);
  await client.connect();
  await client.query(reset);
  await client.query(`${set} random_page_cost = 2`);
  await store.migrate();
  expect(await settingOf(store.url, 'client_connection_check_interval')).toBe('1s');
  expect(await settingOf(store.url, 'random_page_cost')).toBe('2');
  await client.query(reset);
  await store.migrate();
  expect(await settingOf(store.url, 'random_page_cost')).toBe('1.1');
  await client.end();
});

test('a database with dates, times and isolation of its own changes those of no statement', async () => {
  const database = new URL(store.url).pathname.slice(1);
  const client = new pg.Client(store.url);
  await client.connect();
  const own = {
    ...{ TimeZone: 'Asia/Kolkata', DateStyle: 'SQL, DMY', jit: 'on' },
    default_transaction_isolation: 'serializable',
  };
  for (const [name, value] of Object.entries(own)) {
    await client.query(`alter database ${database} set ${name} = '${value}'`);
  }
  await client.query(`alter role current_user in database ${database} reset all`);
  const settings = () => Promise.all(Object.keys(own).map((name) => settingOf(store.url, name)));
  expect(await settings()).toEqual(Object.values(own));
  await store.migrate();
  expect(await settings()).toEqual(['UTC', 'ISO, MDY', 'off', 'read committed']);
  const [sent] = await store.read<{ at: string }>(`select timestamptz '2026-11-30' as at`, []);
  expect(sent?.at).toContain('+00');
  await client.end();
});

test('connections for outcomes never plan to read whole tables', async () => {
  const outcomes = await openStore({
    ...{ name: service, url: store.url, entities: [], migrations: {} },
    onlyByKey: true,
  });
  expect(await outcomes.read('show enable_seqscan', [])).toEqual([{ enable_seqscan: 'off' }]);
  expect(await store.read('show enable_seqscan', [])).toEqual([{ enable_seqscan: 'on' }]);
  await outcomes.close();
});
