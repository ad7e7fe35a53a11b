import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import type { Context } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { restOf } from '../plan/provider.ts';
import { releaseBroadcastUses } from '../variations/template-uses.ts';

export type BroadcastAction = 'pause' | 'resume' | 'cancel';

const noRest = { provider: undefined, begunAt: undefined };

/**
 * An operator's update in the Temporal UI does what the API's operation does. Answers the new
 * status.
 */
export function operate(context: Context) {
  const { store, now } = context;
  return async (key: BroadcastKey, action: BroadcastAction): Promise<string> => {
    const em = store.fork();
    const rest =
      action === 'resume' ? await restOf(em, context, await findBroadcast(em, key)) : noRest;
    const status = await changeBroadcast(store, key, (broadcast) => {
      broadcast[action](now(), rest);
      return broadcast.status;
    });
    if (action === 'cancel') await releaseBroadcastUses(context, key);
    return status;
  };
}
