import { schemaOf } from './job-schema.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

/** Rows of a workspace in one table. */
export type ErasedTable = {
  table: string;
  /** Only rows that meet this condition, in SQL; a later part has the others. */
  where?: string;
  /**
   * Erases a batch itself and returns how many rows that were, for rows that something else hangs
   * on.
   */
  erase?: (workspaceId: string) => Promise<number>;
};

export type Erased = { erased: number; left: string[] };

const rowsMax = 1_000;
/** In one statement, which looks at the jobs of all workspaces. */
const jobsMax = 10_000;
const workMaxMs = 2_000;

/**
 * Erases what a service keeps of a workspace, part after part in the given order, in batches with a
 * transaction each, for at most 2 seconds; also its waiting jobs, which have the workspace as
 * `workspaceId` in their payload. Returns the tables that still have rows.
 */
export async function erase(
  store: Store,
  workspaceId: string,
  parts: readonly ErasedTable[],
): Promise<Erased> {
  const endsAtMs = Date.now() + workMaxMs;
  let erased = 0;
  for (const part of parts) {
    for (let count = 1; count > 0 && Date.now() < endsAtMs; ) {
      count = await (part.erase ?? deleteRows(store, part))(workspaceId);
      erased += count;
    }
  }
  const jobs = await deleteJobs(store, workspaceId);
  const left = await findLeft(store, workspaceId, parts);
  return {
    erased: erased + jobs.deleted,
    left: jobs.found > jobs.deleted ? [...left, 'jobs'] : left,
  };
}

function deleteRows(store: Store, { table, where = 'true' }: ErasedTable) {
  return async (workspaceId: string): Promise<number> => {
    const [row] = await query<{ count: number }>(
      store.fork(),
      `with gone as (
         delete from ${table} where ctid = any(array(
           select ctid from ${table} where workspace_id = $1 and ${where} limit ${rowsMax}
         )) returning 1
       )
       select count(*)::int as count from gone`,
      [workspaceId],
    );
    return row?.count ?? 0;
  };
}

/**
 * A job that runs is left: it ends, or is unlocked after its process died. The payload is read only
 * of jobs that have no workspace in their flags: it may have a megabyte of events.
 */
async function deleteJobs(
  store: Store,
  workspaceId: string,
): Promise<{ found: number; deleted: number }> {
  const jobs = `${schemaOf(store.name)}._private_jobs`;
  const [row] = await query<{ found: number; deleted: number }>(
    store.fork(),
    `with found as materialized (
       select id, locked_at from ${jobs}
       where coalesce(flags->>'workspace', payload->>'workspaceId') = $1
     ),
     gone as (
       delete from ${jobs} where locked_at is null and id = any(array(
         select id from found where locked_at is null limit ${jobsMax}
       )) returning 1
     )
     select (select count(*)::int from found) as found, (select count(*)::int from gone) as deleted`,
    [workspaceId],
  );
  return row ?? { found: 0, deleted: 0 };
}

async function findLeft(
  store: Store,
  workspaceId: string,
  parts: readonly ErasedTable[],
): Promise<string[]> {
  const tables = [...new Set(parts.map(({ table }) => table))];
  const looks = tables.map(
    (table) =>
      `select '${table}' as name where exists (select from ${table} where workspace_id = $1)`,
  );
  const rows = await query<{ name: string }>(store.fork(), looks.join(' union all '), [
    workspaceId,
  ]);
  return rows.map(({ name }) => name);
}
