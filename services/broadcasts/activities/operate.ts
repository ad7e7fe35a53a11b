import type { BroadcastKey } from '../broadcast.ts';
import { findBroadcast } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { providerForRest } from '../plan/provider.ts';
import { releaseBroadcastUses } from '../variations/template-uses.ts';

export type OperatorAction = 'pause' | 'resume' | 'cancel';

/** An operator's update in the Temporal UI does what the API's operation does. Answers the new status. */
export function operate(context: Context) {
  const { store, now } = context;
  return async (key: BroadcastKey, action: OperatorAction): Promise<string> => {
    const provider =
      action === 'resume'
        ? await providerForRest(context, await findBroadcast(store.fork(), key))
        : undefined;
    const status = await changeBroadcast(store, key, (broadcast) => {
      broadcast[action](now(), provider);
      return broadcast.status;
    });
    if (action === 'cancel') await releaseBroadcastUses(context, key);
    return status;
  };
}
