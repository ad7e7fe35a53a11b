import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { addErasing } from '../deletion/deletions.ts';

const deletionsMax = 1_000;

/** Every minute, a round for each workspace that is not erased: its job may have been lost with its process. */
export function continueDeletions({ store }: { store: Store }) {
  return async (): Promise<void> => {
    const em = store.fork();
    const rows = await query<{ id: string }>(
      em,
      `select id from deletions where erased_at is null order by id limit ${deletionsMax}`,
      [],
    );
    for (const { id } of rows) await addErasing(em, id);
  };
}
