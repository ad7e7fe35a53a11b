import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';

export function resumeBroadcast({ store, now }: Context): Methods['resumeBroadcast'] {
  return async (key) => {
    await changeBroadcast(store, key, (broadcast) => broadcast.resume(now()));
    return { success: true };
  };
}
