import { Context as Activity } from '@temporalio/activity';
import { Slice } from '../audience/slice.ts';
import { type SliceTally, saveWhole, shownTally, startTally } from '../audience/tally.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Context } from '../context.ts';
import { countWhole, settleLater, warnUncounted } from '../sending/settling.ts';

const slicesMax = 20;

/**
 * Counts the outcomes of calls that were stopped, from the record; messages in flight are left for
 * later.
 */
export function settle(context: Context) {
  return async ({ workspaceId, id }: BroadcastKey): Promise<void> => {
    const slices = await context.store.fork().find(
      Slice,
      {
        ...{ workspace_id: workspaceId, broadcast_id: id },
        settle_at: { $lte: context.now() },
      },
      { populate: ['emails'], orderBy: { number: 'asc' }, limit: slicesMax },
    );
    for (const slice of slices) {
      if (Activity.current().cancellationSignal.aborted) return;
      const tally = startTally(slice);
      const { whole, isSettled } = await countOrPutOff(context, slice, tally);
      await saveWhole(context, slice, {
        ...{ tally, whole },
        settleAt: isSettled ? null : settleLater(context),
      });
    }
  };
}

/** Errors are retried later: a workflow that waited for them would not react to a change. */
async function countOrPutOff(context: Context, slice: Slice, tally: SliceTally) {
  try {
    const { whole, inFlight } = await countWhole(context, slice, tally);
    return { whole, isSettled: inFlight === 0 };
  } catch (error) {
    warnUncounted(slice, error);
    return { whole: shownTally(slice, tally), isSettled: false };
  }
}
