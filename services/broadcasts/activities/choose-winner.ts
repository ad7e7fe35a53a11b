import type { BroadcastKey } from '../broadcast.ts';
import type { Context } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';

/** An operator's update in the Temporal UI does what the API's selectWinner does. Answers the new status. */
export function chooseWinner({ store, now }: Context) {
  return (key: BroadcastKey, templateId: string): Promise<string> =>
    changeBroadcast(store, key, (broadcast) => {
      broadcast.selectWinner(now(), templateId, 'person');
      return broadcast.status;
    });
}
