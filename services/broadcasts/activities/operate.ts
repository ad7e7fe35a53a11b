import type { BroadcastKey } from '../broadcast.ts';
import type { Context } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';

export type OperatorAction = 'pause' | 'resume' | 'cancel';

/** An operator's update in the Temporal UI does what the API's operation does. Answers the new status. */
export function operate({ store, now }: Context) {
  return (key: BroadcastKey, action: OperatorAction): Promise<string> =>
    changeBroadcast(store, key, (broadcast) => {
      broadcast[action](now());
      return broadcast.status;
    });
}
