import {
  Client,
  Connection,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { Log } from '#lib/log.ts';
import { taskQueue } from './run.ts';

const watchEvery = '20 seconds';

export type TemporalServer = { address: string; namespace: string };

/** A client that connects when it is first used, so that a service starts while Temporal is down. */
export function connectTemporal({ address, namespace }: TemporalServer): Client {
  return new Client({ connection: Connection.lazy({ address }), namespace });
}

/** The Schedule that looks after the runs of live rows. */
export async function ensureWatch(temporal: Client, log: Log): Promise<void> {
  try {
    await temporal.schedule.create({
      scheduleId: 'broadcast-watch',
      spec: { intervals: [{ every: watchEvery }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: 'broadcastWatch',
        taskQueue,
        workflowId: 'broadcast-watch',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning))
      log.warn({ err: error }, 'the watch can not be scheduled');
  }
}
