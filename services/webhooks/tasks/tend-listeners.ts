/*
 * Ends, trims and forgets listeners; minutely.
 *
 * Order: a listener that took nothing for `idleMs` ends; one that ended `keptMs` ago is deleted,
 * and `forgetDeliveries` deletes its deliveries; of each other one, waiting deliveries beyond
 * `waitingMax` are deleted, the oldest first, and all that wait for one that has ended.
 *
 * Limits: only a listener with too many deliveries has a turn of its own, of some steps in a run,
 * so that neither a flood of one nor thousands that nobody uses hold up others. Producers are asked
 * for fewer types by a job.
 */

import { addPush } from '#lib/events/interest-pushes.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context } from '../context.ts';
import { interests } from '../interests/interests.ts';
import { addEnding } from '../lifecycle/ending.ts';
import { keptMs, waitingMax } from '../listening/listener.ts';
import { overfullListeners, trimWaiting } from '../listening/trim-waiting.ts';

const rowsMax = 1_000;

type Tending = Pick<Context, 'store' | 'databaseTime'> & { log: Pick<Log, 'warn'> };
type EndedRow = { workspace_id: string; id: string };

const at = 'coalesce($1::timestamptz, now())';

export function tendListeners(context: Tending, most = { waiting: waitingMax }) {
  return async (): Promise<void> => {
    while ((await endIdle(context)) === rowsMax);
    while ((await forgetEnded(context)) === rowsMax);
    for await (const listener of overfullListeners(context.store, { most: most.waiting })) {
      const { workspaceId } = listener;
      await trimWaiting(context.store, listener).catch((err) =>
        context.log.warn({ err, workspaceId }, 'a listener could not be trimmed; trying again'),
      );
    }
  };
}

/** Ends some; returns how many. */
function endIdle({ store, databaseTime }: Tending): Promise<number> {
  return store.fork().transactional(async (em) => {
    const ended = await query<EndedRow>(
      em,
      `update listeners set ended_at = ${at} where (workspace_id, id) in (
         select workspace_id, id from listeners where ended_at is null and expires_at < ${at}
         limit ${rowsMax} for update skip locked
       ) returning workspace_id, id`,
      [databaseTime()?.toISOString() ?? null],
    );
    for (const workspaceId of workspacesOf(ended)) await addPush(interests, em, { workspaceId });
    return ended.length;
  });
}

/** Forgets some; returns how many. */
function forgetEnded({ store, databaseTime }: Tending): Promise<number> {
  return store.fork().transactional(async (em) => {
    const gone = await query<EndedRow & { has_deliveries: boolean }>(
      em,
      `delete from listeners where (workspace_id, id) in (
         select workspace_id, id from listeners where ended_at < ${at} - interval '${keptMs} milliseconds'
         limit ${rowsMax} for update skip locked
       ) returning workspace_id, id, exists (
         select from deliveries
         where workspace_id = listeners.workspace_id and subscription_id = listeners.id
         offset 0
       ) as has_deliveries`,
      [databaseTime()?.toISOString() ?? null],
    );
    for (const { workspace_id: workspaceId, id } of gone.filter((row) => row.has_deliveries)) {
      await addEnding(em, 'forgetDeliveries', { workspaceId, id });
    }
    for (const workspaceId of workspacesOf(gone)) await addPush(interests, em, { workspaceId });
    return gone.length;
  });
}

const workspacesOf = (rows: readonly EndedRow[]) =>
  new Set(rows.map(({ workspace_id }) => workspace_id));
