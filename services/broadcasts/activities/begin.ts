import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';

/** The start time has come. */
export function begin({ store, now }: Context) {
  return (key: BroadcastKey): Promise<void> =>
    takeStep(store, key, (broadcast) => {
      const at = now();
      if (broadcast.status === 'scheduled' && (broadcast.starts_at ?? at) <= at) {
        broadcast.begin(at);
      }
    });
}
