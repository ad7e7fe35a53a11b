import { schemaOf } from '#lib/postgres/job-schema.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { erasingKeySql } from '../deletion/deletions.ts';

const deletionsMax = 1_000;

/**
 * Every minute, a round for each workspace that is not erased and has none that waits: one that
 * runs may have been lost with its process. A round that waits keeps its time: together the rounds
 * of many deletions would read all tables of all services at once.
 */
export function continueDeletions({ store }: { store: Store }) {
  const schema = schemaOf(store.name);
  return async (): Promise<void> => {
    await query(
      store.fork(),
      `select ${schema}.add_job(
         identifier := 'eraseWorkspace',
         payload := json_build_object('id', id),
         job_key := key)
       from (
         select id, ${erasingKeySql} as key from deletions where erased_at is null
       ) open
       where not exists (
         select from ${schema}._private_jobs jobs
         where jobs.key = open.key and jobs.locked_at is null
       )
       limit ${deletionsMax}`,
      [],
    );
  };
}
