import {
  Client,
  Connection,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { Log } from '#lib/log.ts';
import { taskQueue } from './wake.ts';

const watchEvery = '20 seconds';

/** Numbers of Temporal's IndexedValueType. */
const keyword = 2;
const int = 3;
const searchAttributes = {
  WorkspaceId: keyword,
  BroadcastStatus: keyword,
  RecipientCount: int,
  SentCount: int,
  FailedCount: int,
};

/** A client that connects when it is first used, so that a service starts while Temporal is down. */
export function connectTemporal(address: string, namespace = 'default'): Client {
  return new Client({ connection: Connection.lazy({ address }), namespace });
}

/** What operators search and sort broadcasts by. A server that refuses is used without. */
export async function registerSearchAttributes(temporal: Client, log: Log): Promise<void> {
  const { operatorService } = temporal.connection;
  const namespace = temporal.options.namespace;
  try {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(searchAttributes).filter(
      ([name]) => !(name in customAttributes),
    );
    if (missing.length === 0) return;
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing),
    });
  } catch (error) {
    log.warn({ err: error }, 'search attributes can not be registered');
  }
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
