import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';

export function cancelBroadcast({ store, now }: Context): Methods['cancelBroadcast'] {
  return async (key, call) => {
    await changeBroadcast(store, key, (broadcast) => broadcast.cancel(now()), call);
    return { success: true };
  };
}
