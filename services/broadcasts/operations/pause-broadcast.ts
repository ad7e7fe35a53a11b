import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';

export function pauseBroadcast({ store, now }: Context): Methods['pauseBroadcast'] {
  return async (key, call) => {
    await changeBroadcast(store, key, (broadcast) => broadcast.pause(now()), call);
    return { success: true };
  };
}
