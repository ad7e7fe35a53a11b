import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { everyWorkspace, recordChange } from '#lib/rpc/server/audit.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { readInDoubt } from '../lifecycle/in-doubt.ts';
import { releaseBroadcastUses } from '../variations/template-uses.ts';

export function releaseHold(context: Context): Methods['releaseHold'] {
  const { store, holds } = context;
  return async ({ inDoubt }, call) => {
    const mustCancel = inDoubt === 'cancel';
    const { since } = await holds.getHold({});
    // Before the release: afterwards a run could send to somebody.
    const cancelled = since && mustCancel ? await cancelAll(context, timestampDate(since)) : 0;
    const { failed } = await holds.releaseHold({ failWaiting: mustCancel });
    const details = { workspaceId: everyWorkspace, after: { in_doubt: inDoubt } };
    await recordChange(store.fork(), call, details);
    return { cancelled: BigInt(cancelled), failed };
  };

  async function cancelAll({ now }: Context, begunBy: Date): Promise<number> {
    let cancelled = 0;
    for (;;) {
      const rows = await readInDoubt(store, begunBy);
      const before = cancelled;
      for (const { workspace_id: workspaceId, id } of rows) {
        if (await cancel({ workspaceId, id }, now())) cancelled += 1;
      }
      if (cancelled === before) return cancelled;
    }
  }

  /** False if somebody else was quicker. */
  async function cancel(key: BroadcastKey, at: Date): Promise<boolean> {
    try {
      await changeBroadcast(store, key, (broadcast) => broadcast.cancel(at));
      await releaseBroadcastUses(context, key);
      return true;
    } catch (error) {
      const { code } = ConnectError.from(error);
      if (code === Code.FailedPrecondition || code === Code.NotFound) return false;
      throw error;
    }
  }
}
