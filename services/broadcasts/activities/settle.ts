import { setTimeout as sleep } from 'node:timers/promises';
import { Context as Activity } from '@temporalio/activity';
import { Slice } from '../audience/slice.ts';
import {
  addAnswer,
  type SliceTally,
  saveWhole,
  shownTally,
  startTally,
} from '../audience/tally.ts';
import type { BroadcastKey } from '../broadcast.ts';
import { lockIfThere } from '../broadcast-queries.ts';
import { isOver } from '../broadcast-row.ts';
import type { Context } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';

const askSizeMax = 200;
const callTimeoutMs = 5_000;
/** A server may take ten minutes to answer for a message. */
const settleEveryMs = 15_000;
const slicesMax = 20;

/** A call that is aborted may start something until messages hears of it. */
const abortArrivesMs = 1_000;
const waitMaxMs = 3_000;
const lookEveryMs = 250;

/** Counts what the calls for a broadcast that stands still did, from the record; what is in flight is left for later. */
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
      const tally = startTally(slice);
      const { whole, isSettled } = await countOrPutOff(context, slice, tally);
      await saveWhole(context, slice, {
        ...{ tally, whole },
        settleAt: isSettled ? null : later(context),
      });
    }
  };
}

/** Whatever goes wrong is tried again later: a workflow that waited for it would hear nobody. */
async function countOrPutOff(context: Context, slice: Slice, tally: SliceTally) {
  try {
    const { whole, inFlight } = await countWhole(context, slice, tally);
    return { whole, isSettled: inFlight === 0 };
  } catch (error) {
    warn(slice, error);
    return { whole: shownTally(slice, tally), isSettled: false };
  }
}

function later({ now }: Context, atLeastMs = 0): Date {
  return new Date(now().getTime() + Math.max(settleEveryMs, atLeastMs));
}

/**
 * The same right after a slice's calls were stopped. `callsEndAtMs` is when a call that got no answer can start nothing
 * any more. Waits a moment for what is in flight, and leaves the rest for `settle`.
 */
export async function settleStopped(
  context: Context,
  slice: Slice,
  { tally, callsEndAtMs }: { tally: SliceTally; callsEndAtMs: number },
): Promise<void> {
  const stoppedAtMs = Date.now();
  const quietAtMs = Math.max(stoppedAtMs + abortArrivesMs, callsEndAtMs);
  try {
    for (;;) {
      const isQuiet = Date.now() >= quietAtMs;
      const { whole, inFlight } = await countWhole(context, slice, tally);
      const isSettled = isQuiet && inFlight === 0;
      const settleAt = isSettled ? null : later(context, quietAtMs - Date.now());
      await saveWhole(context, slice, { tally, whole, settleAt });
      if (isSettled || Date.now() > stoppedAtMs + waitMaxMs) return;
      await sleep(lookEveryMs);
    }
  } catch (error) {
    warn(slice, error);
  }
}

/**
 * A run that an operator cancels waits for no activity, and the activity may end before it hears of that: the run saw a
 * slice that was to be counted, and would look again only when somebody else is to count it.
 */
export async function wakeIfOver({ store }: Context, key: BroadcastKey): Promise<void> {
  await store.fork().transactional(async (em) => {
    const broadcast = await lockIfThere(em, key);
    if (broadcast && isOver(broadcast.status)) await wake(em, broadcast);
  });
}

function warn({ workspace_id, broadcast_id, number }: Slice, error: unknown): void {
  const ids = { workspace_id, broadcast_id, slice: number };
  Activity.current().log.warn('what a slice sent is not counted yet', { ...ids, error });
}

/** The tally, and what became of everybody after its position; `inFlight` of them are being sent to. */
async function countWhole({ sender }: Context, slice: Slice, tally: SliceTally) {
  const whole = { ...tally };
  const emails = slice.emails ?? [];
  let inFlight = 0;
  for (let first = tally.position; first < emails.length; first += askSizeMax) {
    const { workspace_id: workspaceId, broadcast_id: broadcastId } = slice;
    const batch = emails.slice(first, first + askSizeMax);
    const answer = await sender.getBatchOutcomes(
      { workspaceId, broadcastId, emails: batch },
      { timeoutMs: callTimeoutMs },
    );
    if (answer.outcomes) addAnswer(whole, answer.outcomes);
    inFlight += answer.inFlight;
  }
  return { whole, inFlight };
}
