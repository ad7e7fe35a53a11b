import { schemaOf } from '#lib/postgres/job-schema.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { erasingKeySql } from '../deletion/deletions.ts';

const deletionsMax = 1_000;

/**
 * Every minute, a round for each workspace that is not erased: its job may have been lost with its
 * process. In no order, so that deletions that never end hold up no other, however many they are.
 */
export function continueDeletions({ store }: { store: Store }) {
  return async (): Promise<void> => {
    await query(
      store.fork(),
      `select ${schemaOf(store.name)}.add_job(
         identifier := 'eraseWorkspace',
         payload := json_build_object('id', id),
         job_key := ${erasingKeySql})
       from (
         select id from deletions where erased_at is null order by random() limit ${deletionsMax}
       ) as open`,
      [],
    );
  };
}
