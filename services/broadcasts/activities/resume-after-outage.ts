import type { BroadcastKey } from '../broadcast.ts';
import { findIfThere } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';
import { providerForRest } from '../plan/provider.ts';

export function resumeAfterOutage(context: Context) {
  const { store, now } = context;
  return async (key: BroadcastKey): Promise<void> => {
    const broadcast = await findIfThere(store.fork(), key);
    if (!broadcast) return;
    const provider = await providerForRest(context, broadcast);
    await takeStep(store, key, (row) => row.resumeAfterOutage(now(), provider));
  };
}
