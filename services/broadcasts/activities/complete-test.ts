import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';

/** Every recipient of the sample was tried. */
export function completeTest({ store, now }: Context) {
  return (key: BroadcastKey): Promise<void> =>
    takeStep(store, key, (broadcast) => {
      if (broadcast.status === 'testing') broadcast.completeTest(now());
    });
}
