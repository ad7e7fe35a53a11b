import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { releaseBroadcastUses } from '../variations/template-uses.ts';

export function cancelBroadcast(context: Context): Methods['cancelBroadcast'] {
  const { store, now } = context;
  return async (key, call) => {
    await changeBroadcast(store, key, (broadcast) => broadcast.cancel(now()), call);
    await releaseBroadcastUses(context, key);
    return { success: true };
  };
}
