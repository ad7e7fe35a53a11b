import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { givenSilentServer } from '../test/silent-server.ts';
import { closeSilent } from './silent-connections.ts';

const silentMaxMs = 400;

let server: Awaited<ReturnType<typeof givenSilentServer>>;
let pool: pg.Pool;
beforeEach(async () => {
  server = await givenSilentServer(process.env.TEST_POSTGRES_URL ?? '');
  pool = new pg.Pool({ connectionString: server.url, max: 2 });
  pool.on('error', () => {});
  closeSilent(pool, silentMaxMs);
});
afterEach(async () => {
  server.close();
  await pool.end();
});

const processId = async (): Promise<number> => {
  const { rows } = await pool.query('select pg_backend_pid() as id');
  return rows[0].id;
};

test('a statement whose server is gone without a word fails, and the pool works on', async () => {
  await Promise.all([processId(), processId()]);
  server.fallSilent();
  const asked = await Promise.allSettled([processId(), processId(), processId()]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(pool.totalCount).toBe(1);
});

test.each(['first', 'last'])(
  'a connection that is idle is cut with the %s one that waits',
  async (which) => {
    const [first, last] = [await pool.connect(), await pool.connect()];
    // The pool gives the one that came last.
    const [idle, next] = which === 'first' ? [last, first] : [first, last];
    idle.release();
    next.release();
    server.fallSilent();
    await expect(processId()).rejects.toThrow('terminated');
    await expect(processId()).resolves.toBeGreaterThan(0);
    expect(pool.totalCount).toBe(1);
  },
);

test('a statement that began later on another connection has its own time', async () => {
  const [silent, other] = [await pool.connect(), await pool.connect()];
  for (const each of [silent, other]) each.on('error', () => {});
  server.fallSilent();
  const first = silent.query('select 1').catch(({ message }) => message);
  await sleep(silentMaxMs / 2);
  let isOver = false;
  const later = other.query('select 1').catch(() => {
    isOver = true;
  });
  expect(await first).toContain('terminated');
  await sleep(silentMaxMs / 8);
  expect(isOver).toBe(false);
  await later;
  expect(isOver).toBe(true);
  for (const each of [silent, other]) each.release(true);
});

test('a connection that is idle or answers in time stays', async () => {
  const first = await processId();
  await sleep(2 * silentMaxMs);
  await pool.query('select pg_sleep(0.2)');
  expect(await processId()).toBe(first);
});
