import { expect, test } from '@jest/globals';
import { newClient } from './client.ts';

test('a connection that is lost between two queries fails the next one', async () => {
  const [lost, other] = [1, 2].map(() => newClient(process.env.TEST_POSTGRES_URL!, 10_000));
  if (!lost || !other) throw new Error('unreachable');
  await Promise.all([lost.connect(), other.connect()]);
  const { rows } = await lost.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ended = new Promise<void>((resolve) => lost.once('end', resolve));
  await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await ended;
  await expect(lost.query('select 1')).rejects.toThrow();
  await Promise.all([lost.end(), other.end()]);
});
