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

/** The key of a round's job, in SQL over the `id` of a workspace. */
export const erasingKeySql = "'erase ' || id";

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

type EndedDeletion = { id: string; deletedAt: string; at: Date };

/**
 * The id can be used again after that. Leaves a later deletion of the id, and a workspace that has
 * it by now.
 */
export async function endDeletion(
  em: EntityManager,
  { id, deletedAt, at }: EndedDeletion,
): Promise<void> {
  await query(
    em,
    `with ended as (
       update deletions set erased_at = $3, services_left = '{}'
       where id = $1 and deleted_at = $2 and erased_at is null
       returning id
     )
     delete from workspaces using ended where workspaces.id = ended.id and workspaces.deleted_at is not null`,
    [id, deletedAt, at],
  );
}
