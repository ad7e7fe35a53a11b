import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { isUnderWay } from '../broadcast/row.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';
import { releaseBroadcastUses } from '../variations/template-uses.ts';

/** For a broadcast that could not even be frozen, such as one whose template is gone. */
export function failBroadcast(context: Context) {
  const { store, now } = context;
  return async (key: BroadcastKey, reason: string): Promise<void> => {
    await takeStep(store, key, (broadcast) => {
      if (isUnderWay(broadcast.status)) broadcast.fail(now(), reason.slice(0, 255));
    });
    await releaseBroadcastUses(context, key);
  };
}
