import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { query } from '#lib/store.ts';
import type { BroadcastKey } from '../broadcast.ts';
import { lockBroadcast } from '../broadcast-queries.ts';
import { isUnderWay } from '../broadcast-settings.ts';
import type { Context } from '../context.ts';
import { wake, workflowIdOf } from '../wake.ts';

const rowsMax = 1_000;
/** A row that changed just now may have a wake on its way. */
const graceMs = 10_000;

/**
 * Looks at the run of every live row. One that was terminated or failed pauses its row, so that a
 * person finds out and resume starts a new run; one that is missing is woken again.
 */
export function checkRuns(context: Context, temporal: Client) {
  return async (): Promise<number> => {
    const keys = await query<BroadcastKey>(
      context.store.fork(),
      `select workspace_id as "workspaceId", id from broadcasts
       where status not in ('draft', 'sent', 'cancelled', 'failed') and updated_at < $1
       order by updated_at limit ${rowsMax}`,
      [new Date(context.now().getTime() - graceMs)],
    );
    for (const key of keys) await checkRun(context, temporal, key);
    return keys.length;
  };
}

async function checkRun(context: Context, temporal: Client, key: BroadcastKey): Promise<void> {
  const state = await runState(temporal, key);
  if (state === 'RUNNING') return;
  await context.store.fork().transactional(async (em) => {
    const broadcast = await lockBroadcast(em, key);
    if (state === 'MISSING') return wake(em, broadcast);
    if (!isUnderWay(broadcast.status)) return;
    const reason = `its workflow was ${state.toLowerCase().replace('_', ' ')}; resume starts a new one`;
    broadcast.pauseBySystem(context.now(), { reason, cause: 'fault' });
    await em.flush();
  });
}

type RunState = 'RUNNING' | 'MISSING' | 'TERMINATED' | 'FAILED' | 'TIMED_OUT';

async function runState(temporal: Client, key: BroadcastKey): Promise<RunState> {
  try {
    const { status } = await temporal.workflow.getHandle(workflowIdOf(key)).describe();
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
