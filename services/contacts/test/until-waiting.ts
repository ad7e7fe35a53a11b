import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import type { Context } from '../context.ts';

/** Resolves when a statement of the database waits for a lock. */
export const untilWaiting = ({ store }: Pick<Context, 'store'>) =>
  until('a statement waits', async () => {
    const text = `select from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`;
    return (await query(store.fork(), text, [])).length > 0;
  });
