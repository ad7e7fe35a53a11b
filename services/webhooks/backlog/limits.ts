/** How many deliveries may wait or be kept. */
export type BacklogLimits = {
  /** Pending ones of a subscription; beyond it the oldest fail. */
  pendingOfSubscription: number;
  /** Pending ones of all subscriptions of a workspace; beyond it the oldest fail. */
  pendingOfWorkspace: number;
  /** All of a workspace; beyond it the oldest that are not pending are deleted. */
  keptOfWorkspace: number;
};

/** The `last_error` of deliveries that fail since too many wait. */
export const tooManyOfSubscription = (max: number) =>
  `more than ${max} deliveries of the subscription were waiting`;
export const tooManyOfWorkspace = (max: number) =>
  `more than ${max} deliveries of the workspace were waiting`;
