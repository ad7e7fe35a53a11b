import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const lookEveryMs = 10;

/** The longest time that a statement of a request has waited for a lock, until `work` is done. */
export async function longestLockWait<T>(
  databaseUrl: string,
  work: () => Promise<T>,
): Promise<{ result: T; longestMs: number }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let [longestMs, isOver] = [0, false];
  const look = async () => {
    while (!isOver) {
      const { rows } = await client.query<{ ms: number }>(
        `select coalesce(max(extract(epoch from clock_timestamp() - waitstart)) * 1000, 0)::float8 as ms
         from pg_locks join pg_stat_activity using (pid)
         where not granted and locktype = 'relation' and application_name not like '%-migrate'`,
      );
      longestMs = Math.max(longestMs, rows[0]?.ms ?? 0);
      await sleep(lookEveryMs);
    }
  };
  const looking = look();
  try {
    return { result: await work(), longestMs: Math.round(longestMs) };
  } finally {
    isOver = true;
    await looking;
    await client.end();
  }
}
