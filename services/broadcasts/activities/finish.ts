import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { countsOf } from '../broadcast/queries.ts';
import { isMoving } from '../broadcast/row.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';
import { releaseBroadcastUses } from '../variations/template-uses.ts';

/**
 * The audience is frozen and every slice is done: `sent` means recipients = sent + failed +
 * skipped.
 */
export function finish(context: Context) {
  const { store, now } = context;
  return async (key: BroadcastKey): Promise<void> => {
    await takeStep(store, key, async (broadcast, em) => {
      if (!isMoving(broadcast.status) || !broadcast.frozen_at) return;
      const counts = (await countsOf(em, key.workspaceId, [key.id]))(key.id);
      const answered = counts.sent + counts.failed + counts.skipped;
      if (answered !== broadcast.enqueued_count) {
        throw new Error(`${answered} of ${broadcast.enqueued_count} recipients have an outcome`);
      }
      broadcast.complete(now());
    });
    await releaseBroadcastUses(context, key);
  };
}
