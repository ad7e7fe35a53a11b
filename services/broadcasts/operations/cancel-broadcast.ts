import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';

export function cancelBroadcast({ store, now }: Context): Methods['cancelBroadcast'] {
  return async (key) => {
    await changeBroadcast(store, key, (broadcast) => broadcast.cancel(now()));
    return { success: true };
  };
}
