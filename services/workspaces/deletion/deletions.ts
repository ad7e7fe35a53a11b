import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/** Times in RFC 3339. */
export type Deletion = {
  deleted_at: string;
  deleted_by: string;
  erased_at: string | null;
  services_left: string[];
};

/** Queues the next round of erasing; one that waits already is moved. */
export async function addErasing(em: EntityManager, id: string, runAt?: Date): Promise<void> {
  const job = { task: 'eraseWorkspace', payload: { id }, key: `erase ${id}` };
  await addJob(em, 'workspaces', runAt ? { ...job, runAt } : job);
}

/** The latest deletion of a workspace with this id. */
export async function findDeletion(em: EntityManager, id: string): Promise<Deletion | undefined> {
  const [row] = await query<Deletion>(
    em,
    `select deleted_at, deleted_by, erased_at, services_left from deletions
     where id = $1 order by deleted_at desc limit 1`,
    [id],
  );
  return row;
}

export async function keepServicesLeft(
  em: EntityManager,
  id: string,
  left: readonly string[],
): Promise<void> {
  await query(em, 'update deletions set services_left = $2 where id = $1 and erased_at is null', [
    id,
    left,
  ]);
}

/** The id can be used again after that. */
export async function endDeletion(em: EntityManager, id: string, at: Date): Promise<void> {
  await query(em, 'delete from workspaces where id = $1 and deleted_at is not null', [id]);
  await query(
    em,
    `update deletions set erased_at = $2, services_left = '{}' where id = $1 and erased_at is null`,
    [id, at],
  );
}
