/*
 * Ends, trims and forgets listeners; minutely.
 *
 * Order: a listener that took nothing for `idleMs` ends; one that ended `keptMs` ago is deleted,
 * and `forgetDeliveries` deletes its deliveries; of each other one, waiting deliveries beyond
 * `waitingMax` are deleted, the oldest first, and all that wait for one that has ended.
 *
 * Limits: a listener has its turn of some steps in a run, so that a flood of one holds up no
 * other. Producers are asked for fewer types by a job.
 */

import { addPush } from '#lib/events/interest-pushes.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context } from '../context.ts';
import { interests } from '../interests/interests.ts';
import { addEnding } from '../lifecycle/ending.ts';
import { keptMs, waitingMax } from '../listening/listener.ts';
import { trimWaiting } from '../listening/trim-waiting.ts';

const rowsMax = 1_000;

type Tending = Pick<Context, 'store' | 'databaseTime'> & { log: Pick<Log, 'warn'> };
type EndedRow = { workspace_id: string; id: string };
type KeptRow = EndedRow & { is_live: boolean };

const at = 'coalesce($1::timestamptz, now())';

export function tendListeners(context: Tending, most = { waiting: waitingMax }) {
  return async (): Promise<void> => {
    await endIdle(context);
    await forgetEnded(context);
    let after: EndedRow | undefined;
    do {
      const rows = await page(context, after);
      for (const { workspace_id: workspaceId, id, is_live: isLive } of rows) {
        const kept = { most: isLive ? most.waiting : 0 };
        await trimWaiting(context.store, { workspaceId, id }, kept).catch((err) =>
          context.log.warn({ err, workspaceId }, 'a listener could not be trimmed; trying again'),
        );
      }
      after = rows.length === rowsMax ? rows.at(-1) : undefined;
    } while (after);
  };
}

function endIdle({ store, databaseTime }: Tending): Promise<void> {
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
  });
}

function forgetEnded({ store, databaseTime }: Tending): Promise<void> {
  return store.fork().transactional(async (em) => {
    const gone = await query<EndedRow>(
      em,
      `delete from listeners where (workspace_id, id) in (
         select workspace_id, id from listeners where ended_at < ${at} - interval '${keptMs} milliseconds'
         limit ${rowsMax} for update skip locked
       ) returning workspace_id, id`,
      [databaseTime()?.toISOString() ?? null],
    );
    for (const { workspace_id: workspaceId, id } of gone) {
      await addEnding(em, 'forgetDeliveries', { workspaceId, id });
    }
    for (const workspaceId of workspacesOf(gone)) await addPush(interests, em, { workspaceId });
  });
}

const workspacesOf = (rows: readonly EndedRow[]) =>
  new Set(rows.map(({ workspace_id }) => workspace_id));

function page({ store }: Tending, after: EndedRow | undefined): Promise<KeptRow[]> {
  return query<KeptRow>(
    store.fork(),
    `select workspace_id, id, ended_at is null as is_live from listeners
     where (workspace_id, id) > ($1, $2) order by workspace_id, id limit ${rowsMax}`,
    [after?.workspace_id ?? '', after?.id ?? ''],
  );
}
