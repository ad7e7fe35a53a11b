import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { addJob } from '#lib/jobs/jobs.ts';
import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { lockIfThere } from '../broadcast/queries.ts';
import { isUnderWay } from '../broadcast/row.ts';
import { takeStep } from '../lifecycle/change.ts';
import { workflowIdOf } from '../lifecycle/run.ts';
import { wake } from '../lifecycle/wake.ts';

const rowsMax = 1_000;
/** A row that has just changed may have a queued wake. */
const graceMs = 10_000;
/** The broadcast's run counts a slice on time; if it is this late, there is no run. */
const lateMs = 60_000;
/** Jobs count as lost after two minutes. */
const workMaxMs = 40_000;
const callTimeoutMs = 5_000;
/** With the grace, a run that was terminated is noticed within half a minute. */
const checkEveryMs = 15_000;
const retryMs = 2_000;

type Checked = { store: Store; now: () => Date };

/**
 * Checks the runs of live rows page by page, from where it stopped. A terminated or failed run
 * pauses its row, so that a person finds out and resume starts a new run. A missing run is woken
 * again, and so is a run that is late with counting. Each check adds the job of the next one.
 */
export function checkRuns(context: Checked, { temporal, log }: { temporal: Client; log: Log }) {
  return async (): Promise<void> => {
    let nextMs = checkEveryMs;
    try {
      await checkPage(context, temporal);
    } catch (error) {
      log.warn({ err: error }, 'the runs of live broadcasts were not all checked; trying again');
      nextMs = retryMs;
    }
    const runAt = new Date(Date.now() + nextMs);
    const next = { task: 'checkRuns', payload: {}, key: 'checkRuns', runAt };
    await addJob(context.store.fork(), 'broadcasts', next);
  };
}

async function checkPage(context: Checked, temporal: Client): Promise<void> {
  const em = context.store.fork();
  const endsAtMs = Date.now() + workMaxMs;
  const isAllWoken = await wakeUncounted(context);
  const keys = await liveAfterCursor(context, em);
  let last: BroadcastKey | undefined;
  try {
    for (const key of keys) {
      if (Date.now() > endsAtMs) return;
      // A failing one is skipped until the next round, so that it delays no other.
      last = key;
      await checkRun(context, temporal, key);
    }
    if (keys.length < rowsMax) last = undefined;
  } finally {
    await moveCursor(context, last);
  }
  if (!isAllWoken) throw new Error('a broadcast that is late with counting was not woken');
}

function liveAfterCursor({ now }: Checked, em: EntityManager): Promise<BroadcastKey[]> {
  return query<BroadcastKey>(
    em,
    `select workspace_id as "workspaceId", id from broadcasts
     where status not in ('draft', 'sent', 'cancelled', 'failed') and updated_at < $1
       and (workspace_id, id) > (
         select coalesce(max(workspace_id), ''), coalesce(max(id), '') from watch_cursor
       )
     order by workspace_id, id limit ${rowsMax}`,
    [new Date(now().getTime() - graceMs)],
  );
}

async function moveCursor({ store }: Checked, last: BroadcastKey | undefined): Promise<void> {
  await store.fork().transactional(async (em) => {
    await query(em, 'delete from watch_cursor', []);
    if (!last) return;
    const values = [last.workspaceId, last.id];
    await query(em, 'insert into watch_cursor (workspace_id, id) values ($1, $2)', values);
  });
}

/**
 * Whether all were woken: one that cannot be must not keep the others from being woken and checked.
 */
async function wakeUncounted({ store, now }: Checked): Promise<boolean> {
  const keys = await query<BroadcastKey>(
    store.fork(),
    `select workspace_id as "workspaceId", broadcast_id as id from slices
     where settle_at < $1 group by workspace_id, broadcast_id order by min(settle_at)
     limit ${rowsMax}`,
    [new Date(now().getTime() - lateMs)],
  );
  let isAllWoken = true;
  for (const key of keys) {
    try {
      await store.fork().transactional(async (em) => {
        const broadcast = await lockIfThere(em, key);
        if (broadcast) await wake(em, broadcast);
      });
    } catch {
      isAllWoken = false;
    }
  }
  return isAllWoken;
}

async function checkRun(context: Checked, temporal: Client, key: BroadcastKey): Promise<void> {
  const state = await runState(temporal, key);
  if (state === 'RUNNING') return;
  await takeStep(context.store, key, async (broadcast, em) => {
    if (state === 'MISSING') return wake(em, broadcast);
    if (!isUnderWay(broadcast.status)) return;
    const reason = `its workflow was ${state.toLowerCase().replace('_', ' ')}; resume starts a new one`;
    broadcast.pauseBySystem(context.now(), { reason, cause: 'fault' });
  });
}

type RunState = 'RUNNING' | 'MISSING' | 'TERMINATED' | 'FAILED' | 'TIMED_OUT';

async function runState(temporal: Client, key: BroadcastKey): Promise<RunState> {
  try {
    const { status } = await temporal.connection.withDeadline(Date.now() + callTimeoutMs, () =>
      temporal.workflow.getHandle(workflowIdOf(key)).describe(),
    );
    if (status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW') return 'RUNNING';
    if (status.name === 'TERMINATED' || status.name === 'FAILED' || status.name === 'TIMED_OUT') {
      return status.name;
    }
    return 'MISSING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'MISSING';
    throw error;
  }
}
