import { findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { restOf } from '../plan/provider.ts';

export function resumeBroadcast(context: Context): Methods['resumeBroadcast'] {
  const { store, now } = context;
  return async (key, call) => {
    const em = store.fork();
    const rest = await restOf(em, context, await findBroadcast(em, key));
    return changeBroadcast(
      store,
      key,
      (broadcast) => {
        const before = broadcast.plan?.integration_id;
        broadcast.resume(now(), rest);
        const after = broadcast.plan?.integration_id;
        return {
          success: true,
          ...(after !== undefined && { integrationId: after }),
          ...(before !== undefined && before !== after && { movedFrom: before }),
        };
      },
      call,
    );
  };
}
