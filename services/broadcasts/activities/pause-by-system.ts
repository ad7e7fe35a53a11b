import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { isUnderWay } from '../broadcast/row.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';

/**
 * Pauses with a reason: an outage is retried automatically, at its end where that is known; a fault
 * waits for a person.
 */
export function pauseBySystem({ store, now }: Context) {
  return (
    key: BroadcastKey,
    reason: string,
    cause: 'outage' | 'fault',
    endsAtMs?: number,
  ): Promise<void> =>
    takeStep(store, key, (broadcast) => {
      if (!isUnderWay(broadcast.status)) return;
      const endsAt = endsAtMs === undefined ? undefined : new Date(endsAtMs);
      broadcast.pauseBySystem(now(), { reason: reason.slice(0, 255), cause, endsAt });
    });
}
