import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { freePort } from './ports.ts';
import { startPostgres } from './postgres.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-pg-'));
const options = { folder: join(root, 'data'), port: 0, password: 'a b/c' };

beforeAll(async () => {
  options.port = await freePort();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test("the superuser's password is never in a file that others can read", async () => {
  const folder = join(root, 'guarded');
  const look = `
    const { statSync } = require('node:fs');
    process.send('looking');
    for (;;) try {
      process.send((statSync('${folder}.password').mode & 0o777).toString(8));
      break;
    } catch {}`;
  const looker = spawn(process.execPath, ['-e', look], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  await once(looker, 'message');
  const mode = once(looker, 'message');
  const server = await startPostgres({ ...options, folder, port: await freePort() });
  try {
    expect(await mode).toEqual(['600', undefined]);
    expect(existsSync(`${folder}.password`)).toBe(false);
  } finally {
    looker.kill();
    await server.stop();
  }
});

test('start creates a cluster that keeps its data after a stop and after kill -9', async () => {
  const first = await startPostgres(options);
  await query(first.url, 'create table kept (n int)');
  await query(first.url, 'insert into kept values (7)');
  await first.stop();

  const second = await startPostgres(options);
  expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
  process.kill(second.pid, 'SIGKILL');
  await second.exited;

  const third = await startPostgres(options);
  expect(await query(third.url, 'select n from kept')).toEqual([{ n: 7 }]);
  await third.stop();
}, 60_000);

test('start keeps fsync on and asks for the password', async () => {
  const server = await startPostgres(options);
  try {
    expect(await query(server.url, 'show fsync')).toEqual([{ fsync: 'on' }]);
    const guess = server.url.replace(/:[^:]*@/, ':wrong@');
    await expect(query(guess, 'select 1')).rejects.toThrow('password authentication failed');
  } finally {
    await server.stop();
  }
});

test('start names a port that is in use', async () => {
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  try {
    await expect(startPostgres({ ...options, port })).rejects.toThrow(`port ${port} is in use`);
  } finally {
    other.close();
  }
});

test('the test run has a server without fsync', async () => {
  const url = process.env.TEST_POSTGRES_URL ?? '';
  expect(await query(url, 'show fsync')).toEqual([{ fsync: 'off' }]);
});
