import { afterAll, expect, test } from '@jest/globals';
import { Pool } from 'pg';
import { readMetric } from '../test/read-metric.ts';
import { measurePool } from './pools.ts';

const pool = new Pool({ connectionString: process.env.TEST_POSTGRES_URL, max: 1 });
afterAll(() => pool.end());

const own = '{pool="test"}';

test('a pool has its connections, those in use, and those who wait for one and for how long', async () => {
  measurePool('test', pool);
  expect(await readMetric('db_client_connection_max', own)).toBe(1);
  const held = await pool.connect();
  const waiting = pool.connect();
  const used = '{pool="test",state="used"}';
  expect(await readMetric('db_client_connection_count', used)).toBe(1);
  expect(await readMetric('db_client_connection_pending_requests', own)).toBe(1);
  const waits = 'db_client_connection_wait_time_seconds_count';
  expect(await readMetric(waits, own)).toBe(1);
  held.release();
  (await waiting).release();
  expect(await readMetric('db_client_connection_pending_requests', own)).toBe(0);
  expect(await readMetric(waits, own)).toBe(2);
  const idle = '{pool="test",state="idle"}';
  expect(await readMetric('db_client_connection_count', idle)).toBe(1);
});
