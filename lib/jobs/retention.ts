import type { Log } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { EntityManager, Store } from '../postgres/store.ts';
import { addJob, addMissingJobs } from './jobs.ts';

const everyMs = 60 * 60 * 1_000;
const soonMs = 1_000;
/** Jobs count as lost after two minutes. */
const workMaxMs = 40_000;
/** Of one workspace in a run, so that one with very many rows leaves time to the others. */
const partMaxMs = 5_000;

/**
 * Repeats a step, which deletes up to `rowsMax` rows and says how many, until it deletes fewer.
 * Throws when the time is up; the next run goes on.
 */
export type Repeat = (step: (rowsMax: number) => Promise<number>) => Promise<void>;

export type Retention = {
  service: string;
  /** The task's name, as it stands in rows of the queue. */
  task: string;
  /** For the log, such as `old messages`. */
  what: string;
  /**
   * Where workspaces with rows are found, each as a table with a condition: `messages where true`.
   * An index begins with its `workspace_id`.
   */
  rows: readonly string[];
  /** Rows that a step deletes. */
  stepRows: number;
  /** Deletes what belongs to no workspace. */
  clearCommon?(repeat: Repeat): Promise<void>;
  /** Deletes what a workspace keeps no longer. */
  clear(workspaceId: string, repeat: Repeat): Promise<void>;
};

/** The oldest rows of a workspace that are older than a time. All of it is SQL of the caller's. */
export type OldRows = {
  table: string;
  /** The column with a row's age; an index has the workspace and it. */
  time: string;
  /** A further condition, such as one that names a partial index. */
  where?: string;
};

/** Deletes up to `rowsMax` old rows of a workspace, the oldest first, and says how many. */
export async function deleteOldRows(
  store: Store,
  { table, time, where = 'true' }: OldRows,
  { workspaceId, before, rowsMax }: { workspaceId: string; before: Date; rowsMax: number },
): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from ${table} where ctid = any(array(
         select ctid from ${table}
         where workspace_id = $1 and ${time} < $2 and ${where}
         order by ${time} limit $3::int for update skip locked
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, before, rowsMax],
  );
  return row?.count ?? 0;
}

/** Deletes as many of the oldest rows as there are too many. */
export async function deleteExcess(
  store: Store,
  rows: OldRows,
  { workspaceId, before, excess }: { workspaceId: string; before: Date; excess: number },
  repeat: Repeat,
): Promise<void> {
  let left = excess;
  await repeat(async (rowsMax) => {
    if (left <= 0) return 0;
    const asked = { workspaceId, before, rowsMax: Math.min(left, rowsMax) };
    const deleted = await deleteOldRows(store, rows, asked);
    left -= deleted;
    return deleted;
  });
}

class TimeIsUp extends Error {}

/** Where a run begins, as its job says. Jobs that version 0.3 has queued say nothing. */
type Place = {
  /** The last workspace that was cleared; empty at the beginning. */
  after: string;
  /** A workspace before it has more than a run deletes. */
  hasMore: boolean;
};

const beginning: Place = { after: '', hasMore: false };

/**
 * The job that deletes rows which their workspace keeps no longer: in steps, workspace by
 * workspace, every hour. A run that has not come to all of them is followed by one that goes on
 * there. After a second it begins anew while there is more than it can delete. A workspace that
 * cannot be cleared, because its settings cannot be read for instance, is left for the next hour.
 */
export function retentionJob(
  { store, log }: { store: Store; log: Pick<Log, 'warn'> },
  retention: Retention,
): { task: (payload?: unknown) => Promise<void>; start: (em: EntityManager) => Promise<void> } {
  const { service, task } = retention;
  return {
    task: async (payload) => {
      const place = await clearFrom({ store, log }, retention, {
        ...beginning,
        ...(payload as Partial<Place>),
      });
      const isOver = place.after === '';
      const inMs = isOver && !place.hasMore ? everyMs : soonMs;
      const runAt = new Date(Date.now() + inMs);
      const job = { task, payload: isOver ? beginning : place, key: task, runAt };
      await addJob(store.fork(), service, job);
    },
    // One that waits keeps its place.
    start: (em) => addMissingJobs(em, service, [{ task, payload: beginning, key: task }]),
  };
}

/** Gives the place of the next run. */
async function clearFrom(
  { store, log }: { store: Store; log: Pick<Log, 'warn'> },
  { what, rows, stepRows, clear, clearCommon }: Retention,
  place: Place,
): Promise<Place> {
  const endsAtMs = Date.now() + workMaxMs;
  let { after, hasMore } = place;
  const attempt = async (work: (repeat: Repeat) => Promise<void>, about = {}) => {
    const untilMs = Math.min(endsAtMs, Date.now() + partMaxMs);
    try {
      await work((step) => repeatUntil(untilMs, stepRows, step));
    } catch (err) {
      if (err instanceof TimeIsUp) hasMore = true;
      else log.warn({ err, ...about }, `${what} were not all deleted; trying again later`);
    }
  };
  if (clearCommon) await attempt(clearCommon);
  for (;;) {
    const workspaceId = await workspaceAfter(store, rows, after);
    if (workspaceId === undefined) return { after: '', hasMore };
    if (Date.now() > endsAtMs) return { after, hasMore };
    await attempt((repeat) => clear(workspaceId, repeat), { workspaceId });
    after = workspaceId;
  }
}

async function repeatUntil(
  endsAtMs: number,
  rowsMax: number,
  step: (rowsMax: number) => Promise<number>,
): Promise<void> {
  while ((await step(rowsMax)) === rowsMax) if (Date.now() > endsAtMs) throw new TimeIsUp();
}

/** One step through each index. */
async function workspaceAfter(
  store: Store,
  rows: readonly string[],
  workspaceId: string,
): Promise<string | undefined> {
  const nextOf = (table: string) =>
    `(select workspace_id as id from ${table} and workspace_id > $1 order by workspace_id limit 1)`;
  const [row] = await query<{ id: string | null }>(
    store.fork(),
    `select min(id) as id from (${rows.map(nextOf).join(' union all ')}) next`,
    [workspaceId],
  );
  return row?.id ?? undefined;
}
