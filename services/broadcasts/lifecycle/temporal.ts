import { type Client, ScheduleNotFoundError } from '@temporalio/client';
import type { Log } from '#lib/log.ts';

/** The Schedule that watched runs in older versions, and its workflow. */
const oldWatch = { scheduleId: 'broadcast-watch', workflowType: 'broadcastWatch' };

/** Removes that Schedule and terminates its run, which no worker can finish any more. */
export async function removeOldWatch(temporal: Client, log: Pick<Log, 'warn'>): Promise<void> {
  try {
    await temporal.schedule.getHandle(oldWatch.scheduleId).delete();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return;
    log.warn({ err: error }, 'the old watch cannot be removed');
    return;
  }
  const query = `WorkflowType = '${oldWatch.workflowType}' AND ExecutionStatus = 'Running'`;
  try {
    for await (const { workflowId } of temporal.workflow.list({ query })) {
      await temporal.workflow.getHandle(workflowId).terminate('the watch is a job now');
    }
  } catch (error) {
    log.warn({ err: error }, 'a run of the old watch cannot be terminated');
  }
}
