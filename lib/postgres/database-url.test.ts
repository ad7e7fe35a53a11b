import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { freePort } from '../../deploy/local/ports.ts';
import { type Postgres, startPostgres } from '../../deploy/local/postgres.ts';
import { certificate } from '../../test/certificate.ts';
import { until } from '../../test/stack/until.ts';
import { addJob, runJobs } from '../jobs/jobs.ts';
import { createLog } from '../log.ts';
import { connectionStringOf } from './database-url.ts';
import { query } from './query.ts';
import { openStore } from './store.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-tls-'));
const ca = join(root, 'ca.crt');
let server: Postgres;

/** A server that takes connections over TLS only, with a certificate of its own. */
beforeAll(async () => {
  const folder = join(root, 'data');
  server = await startPostgres({ folder, port: await freePort(), settings: { fsync: 'off' } });
  const { uid, gid } = statSync(folder);
  const files = {
    'server.key': certificate.key,
    'server.crt': certificate.cert,
    'pg_hba.conf': 'hostssl all all 127.0.0.1/32 trust\n',
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    chownSync(join(folder, name), uid, gid);
  }
  writeFileSync(ca, certificate.cert);
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query('alter system set ssl = on');
  await client.query('select pg_reload_conf()');
  await client.end();
  const isRefused = async () => {
    const clear = new pg.Client(server.url);
    try {
      await clear.connect();
    } catch {
      return true;
    }
    // Not left open: a test looks at all connections.
    await clear.end();
    return false;
  };
  await until('only TLS is taken', isRefused, { withinMs: 10_000 });
});
afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const open = (name: string, search: string) =>
  openStore({ name, url: `${server.url}${search}`, entities: [], migrations: {} });

test.each([
  ['require', () => '?sslmode=require'],
  ['verify-ca', () => `?sslmode=verify-ca&sslrootcert=${ca}`],
  ['verify-full', () => `?sslmode=verify-full&sslrootcert=${ca}`],
])('a service migrates, reads and runs its jobs over TLS with sslmode=%s', async (mode, search) => {
  const name = `tls_${mode.replace('-', '_')}`;
  const store = await open(name, search());
  await store.migrate();
  const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
  expect(await store.read(text, [])).toEqual([{ ssl: true }]);
  const done = Promise.withResolvers<unknown>();
  const tasks = { note: async (payload: unknown) => done.resolve(payload) };
  const log = createLog('test', 'silent');
  const runner = runJobs({ url: store.url, service: name, tasks, log });
  await addJob(store.fork(), name, { task: 'note', payload: { number: 1 } });
  expect(await done.promise).toEqual({ number: 1 });
  const others = `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
    where backend_type = 'client backend'`;
  // The server takes a moment to end the connection that had to be refused.
  const areAll = async () =>
    !(await query<{ ssl: boolean }>(store.fork(), others, [])).some(({ ssl }) => !ssl);
  await until('all connections use TLS', areAll, { withinMs: 10_000 });
  await runner.stop();
  await store.close();
});

test.each([
  ['no TLS', '', 'no encryption'],
  ['sslmode=disable', '?sslmode=disable', 'no encryption'],
  ['an untrusted certificate', '?sslmode=verify-full', 'self-signed certificate'],
])('with %s the error names the cause', async (_, search, cause) => {
  const store = await open('refused', search);
  await expect(store.ping()).rejects.toThrow(cause);
  await expect(store.migrate()).rejects.toThrow(cause);
  await store.close();
});

test.each([
  ['sslmode=prefer', 'sslmode must be disable, require, verify-ca or verify-full'],
  ['sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert'],
  ['sslmode=require&sslrootcert=/nowhere/ca.crt', 'sslrootcert: /nowhere/ca.crt cannot be read'],
  ['sslmode=require&sslcert=/nowhere/a.crt', 'sslcert: /nowhere/a.crt cannot be read'],
])('a URL with %s is refused before a connection is made', async (search, reason) => {
  await expect(open('wrong', `?${search}`)).rejects.toThrow(reason);
});

test('a URL without TLS settings is unchanged, and an invalid one is an error', () => {
  const url = 'postgresql://a:p%23w@127.0.0.1:1/b?application_name=x';
  expect(connectionStringOf(url)).toBe(url);
  expect(() => connectionStringOf('127.0.0.1:5432')).toThrow('database URL must');
});
