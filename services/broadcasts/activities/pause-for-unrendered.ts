import { renderFailureReason } from '../audience/render-failures.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { isMoving } from '../broadcast/row.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';

/** Too many messages failed to render: a person decides whether to send the rest anyway. */
export function pauseForUnrendered({ store, now }: Context) {
  return (key: BroadcastKey): Promise<void> =>
    takeStep(store, key, async (broadcast, em) => {
      if (!isMoving(broadcast.status) || broadcast.ignore_render_failures) return;
      const reason = await renderFailureReason(em, key);
      if (reason) broadcast.pauseForUnrendered(now(), reason);
    });
}
