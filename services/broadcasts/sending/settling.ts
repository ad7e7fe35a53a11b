import { setTimeout as sleep } from 'node:timers/promises';
import { Context as Activity } from '@temporalio/activity';
import type { Store } from '#lib/postgres/store.ts';
import type { Slice } from '../audience/slice.ts';
import { addAnswer, type SliceTally, saveWhole } from '../audience/tally.ts';
import type { Peers } from '../peers.ts';

const askSizeMax = 200;
const callTimeoutMs = 5_000;
const lookMaxMs = 10_000;
/** A mail server may take ten minutes to answer. */
const settleEveryMs = 15_000;

/** Until messages notices the abort, the call may start more messages. */
const abortArrivesMs = 1_000;
const waitMaxMs = 3_000;
const pollEveryMs = 250;

type Settling = Pick<Peers, 'sender'> & { store: Store; now: () => Date };

/**
 * Counts what was sent, right after the calls of a slice were stopped. From `callsEndAtMs` on,
 * calls without an answer start nothing more. Waits shortly for messages in flight, and leaves the
 * rest to the activity `settle`.
 */
export async function settleStopped(
  context: Settling,
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
      const settleAt = isSettled ? null : settleLater(context, quietAtMs - Date.now());
      await saveWhole(context, slice, { tally, whole, settleAt });
      if (isSettled || Date.now() > stoppedAtMs + waitMaxMs) return;
      await sleep(pollEveryMs);
    }
  } catch (error) {
    warnUncounted(slice, error);
  }
}

export function settleLater({ now }: { now: () => Date }, atLeastMs = 0): Date {
  return new Date(now().getTime() + Math.max(settleEveryMs, atLeastMs));
}

export function warnUncounted({ workspace_id, broadcast_id, number }: Slice, error: unknown): void {
  const ids = { workspace_id, broadcast_id, slice: number };
  Activity.current().log.warn('the outcomes of a slice are not counted yet', { ...ids, error });
}

/** The tally with the outcomes after its position; `inFlight` recipients have none yet. */
export async function countWhole(
  { sender }: Pick<Peers, 'sender'>,
  slice: Slice,
  tally: SliceTally,
) {
  const whole = { ...tally };
  const emails = slice.emails ?? [];
  // Of all calls together: a process that ends has no time for a large slice and slow answers.
  const signal = AbortSignal.timeout(lookMaxMs);
  let inFlight = 0;
  for (let first = tally.position; first < emails.length; first += askSizeMax) {
    const { workspace_id: workspaceId, broadcast_id: broadcastId } = slice;
    const batch = emails.slice(first, first + askSizeMax);
    const answer = await sender.getBatchOutcomes(
      { workspaceId, broadcastId, emails: batch },
      { timeoutMs: callTimeoutMs, signal },
    );
    if (answer.outcomes) addAnswer(whole, answer.outcomes);
    inFlight += answer.inFlight;
  }
  return { whole, inFlight };
}
