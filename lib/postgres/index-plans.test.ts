import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { planByIndex } from './index-plans.ts';

let pool: pg.Pool;
beforeAll(() => {
  pool = new pg.Pool({ connectionString: process.env.TEST_POSTGRES_URL! });
});
afterAll(() => pool.end());

const isScanning = async (client: pg.PoolClient) =>
  (await client.query('show enable_seqscan')).rows[0].enable_seqscan;

test('a connection to PostgreSQL itself plans by index, and may prepare', async () => {
  const mayPrepare = planByIndex(pool);
  const client = await pool.connect();
  expect(mayPrepare(client)).toBe(true);
  expect(await isScanning(client)).toBe('off');
  client.release(true);
});

test('a connection of a pooler is left as it is for the others that share it, and prepares nothing', async () => {
  const mayPrepare = planByIndex(pool);
  const { onConnect } = pool.options;
  // As behind a pooler: the process id that the client got is not that of the server's process.
  const behindPooler = (client: pg.ClientBase) =>
    onConnect?.(Object.assign(client, { processID: 1 }));
  Object.assign(pool.options, { onConnect: behindPooler });
  const client = await pool.connect();
  expect(mayPrepare(client)).toBe(false);
  expect(await isScanning(client)).toBe('on');
  client.release(true);
});
