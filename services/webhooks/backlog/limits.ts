import type { Quotas } from '#lib/quotas/quotas.ts';
import { waitingMax } from '../listening/listener.ts';

/** How many deliveries may wait or be kept. */
export type BacklogLimits = {
  /** Pending ones of a subscription; beyond it the oldest fail. */
  pendingOfSubscription: number;
  /** Waiting ones of a listener; beyond it the oldest are deleted. */
  waitingOfListener: number;
  /** Pending ones of all subscriptions of a workspace; beyond it the oldest fail. */
  pendingOfWorkspace: number;
  /** All of a workspace; beyond it the oldest that are not pending are deleted. */
  keptOfWorkspace: number;
  /**
   * Of the payloads of a workspace; beyond it none may wait for listeners, and fewer may be pending
   * and kept, in proportion.
   */
  bytesOfWorkspace: number;
};

/**
 * The limits of a workspace. Throws where they were never read: a default might delete more than
 * the operator wants.
 */
export async function limitsOf(
  quotas: Pick<Quotas, 'readQuota'>,
  workspaceId: string,
  pendingOfSubscription: number,
): Promise<BacklogLimits> {
  return {
    pendingOfSubscription,
    waitingOfListener: waitingMax,
    pendingOfWorkspace: await quotas.readQuota(workspaceId, 'pending_deliveries'),
    keptOfWorkspace: await quotas.readQuota(workspaceId, 'kept_deliveries'),
    bytesOfWorkspace: await quotas.readQuota(workspaceId, 'webhook_bytes'),
  };
}

/** The `last_error` of deliveries that fail since too many wait. */
export const tooManyOfSubscription = (max: number) =>
  `more than ${max} deliveries of the subscription were waiting`;
export const tooManyOfWorkspace = (max: number) =>
  `more than ${max} deliveries of the workspace were waiting`;
export const tooLargeOfWorkspace = 'the payloads of the workspace were too large in all';
