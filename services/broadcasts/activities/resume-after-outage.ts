import type { BroadcastKey } from '../broadcast.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';

export function resumeAfterOutage({ store, now }: Context) {
  return (key: BroadcastKey): Promise<void> =>
    takeStep(store, key, (broadcast) => broadcast.resumeAfterOutage(now()));
}
