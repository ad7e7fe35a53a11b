import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import type { Context } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { readSample } from '../variations/stats.ts';

/**
 * An operator's update in the Temporal UI does what the API's selectWinner does. Answers the new
 * status.
 */
export function chooseWinner(context: Context) {
  const { store, now } = context;
  return async (key: BroadcastKey, templateId: string): Promise<string> => {
    const sample = await readSample(context, await findBroadcast(store.fork(), key));
    return changeBroadcast(store, key, (broadcast) => {
      broadcast.selectWinner(now(), { templateId, decidedBy: 'person', sample });
      return broadcast.status;
    });
  };
}
