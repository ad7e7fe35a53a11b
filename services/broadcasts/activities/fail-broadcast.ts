import type { BroadcastKey } from '../broadcast.ts';
import { isUnderWay } from '../broadcast-row.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';

/** For a broadcast that could not even be frozen, such as one whose template is gone. */
export function failBroadcast({ store, now }: Context) {
  return (key: BroadcastKey, reason: string): Promise<void> =>
    takeStep(store, key, (broadcast) => {
      if (isUnderWay(broadcast.status)) broadcast.fail(now(), reason.slice(0, 255));
    });
}
