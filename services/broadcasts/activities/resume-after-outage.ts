import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { findIfThere } from '../broadcast/queries.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';
import { restOf } from '../plan/provider.ts';

export function resumeAfterOutage(context: Context) {
  const { store, now } = context;
  return async (key: BroadcastKey): Promise<void> => {
    const em = store.fork();
    const broadcast = await findIfThere(em, key);
    if (!broadcast) return;
    const rest = await restOf(em, context, broadcast);
    await takeStep(store, key, (row) => row.resumeAfterOutage(now(), rest));
  };
}
