import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';

export function resumeBroadcast({ store, now }: Context): Methods['resumeBroadcast'] {
  return async (key, call) => {
    await changeBroadcast(store, key, (broadcast) => broadcast.resume(now()), call);
    return { success: true };
  };
}
