import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../services/broadcasts/activities/all.ts';

const { checkRuns } = proxyActivities<Activities>({ startToCloseTimeout: '1 minute' });

/** Started by a Schedule: finds broadcasts whose run is gone. */
export async function broadcastWatch(): Promise<number> {
  return checkRuns();
}
