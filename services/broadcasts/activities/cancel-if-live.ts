import { Code, ConnectError } from '@connectrpc/connect';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Context } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { releaseBroadcastUses } from '../variations/template-uses.ts';

/** For a workflow that was cancelled. A broadcast that is over or deleted stays as it is. */
export function cancelIfLive(context: Context) {
  const { store, now } = context;
  return async (key: BroadcastKey): Promise<void> => {
    try {
      await changeBroadcast(store, key, (broadcast) => broadcast.cancel(now()));
      await releaseBroadcastUses(context, key);
    } catch (error) {
      const { code } = ConnectError.from(error);
      if (code !== Code.FailedPrecondition && code !== Code.NotFound) throw error;
    }
  };
}
