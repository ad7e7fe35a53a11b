import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { SendBatchResponse } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Slice, SliceCounts } from './slice.ts';

type Clocked = { store: Store; now: () => Date };

/** The counts of the first `position` recipients of a slice. */
export type SliceTally = SliceCounts & {
  /** The first pass continues at its position; a later one starts over with all recipients. */
  isFirstPass: boolean;
  startedAt: number;
  position: number;
  unrenderedReason: string;
  nextDueAt: Date | null;
};

const nothing: SliceCounts = {
  ...{ sent: 0, failed: 0, skipped: 0, deferred: 0, unknown: 0, unrendered: 0 },
};

export function startTally(slice: Slice): SliceTally {
  const isFirstPass = slice.answered < slice.size;
  if (!isFirstPass) {
    return {
      ...{ isFirstPass, startedAt: 0, position: 0, ...nothing },
      ...{ unrenderedReason: '', nextDueAt: null },
    };
  }
  const { answered: position, unrendered_reason: unrenderedReason } = slice;
  const nextDueAt = slice.next_due_at ?? null;
  const counts = difference(slice, slice.beyond ?? nothing);
  return { isFirstPass, startedAt: position, position, ...counts, unrenderedReason, nextDueAt };
}

/** The counts of the row: the tally and the outcomes after its position. */
export function shownTally(slice: Slice, tally: SliceTally): SliceTally {
  const { sent, failed, skipped, deferred, unknown, unrendered } = slice;
  const { unrendered_reason: unrenderedReason, next_due_at: nextDueAt = null } = slice;
  const counts = { sent, failed, skipped, deferred, unknown, unrendered };
  return { ...tally, ...counts, unrenderedReason, nextDueAt };
}

function difference(all: SliceCounts, part: SliceCounts): SliceCounts {
  return {
    sent: all.sent - part.sent,
    failed: all.failed - part.failed,
    skipped: all.skipped - part.skipped,
    deferred: all.deferred - part.deferred,
    unknown: all.unknown - part.unknown,
    unrendered: all.unrendered - part.unrendered,
  };
}

export function addAnswer(tally: SliceTally, answer: SendBatchResponse): void {
  tally.sent += answer.sent;
  tally.failed += answer.failed;
  tally.skipped += answer.skipped;
  tally.deferred += answer.deferred;
  tally.unknown += answer.unknown;
  tally.unrendered += answer.unrendered;
  tally.unrenderedReason ||= answer.unrenderedReason;
  if (!answer.nextDueAt) return;
  const due = timestampDate(answer.nextDueAt);
  if (!tally.nextDueAt || due < tally.nextDueAt) tally.nextDueAt = due;
}

/**
 * Marks a slice before calls for it are opened, so that their outcomes are counted at `settleAt` at
 * the latest. Refuses if the broadcast was changed or deleted since it was read.
 */
export async function openSlice(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
  {
    number,
    revision,
    now,
    settleAt,
  }: { number: number; revision: number; now: Date; settleAt: Date },
): Promise<boolean> {
  const rows = await query(
    em,
    // The lock orders this with a pause or a deletion: either it is seen here, or it sees the mark.
    `with broadcast as (
       select from broadcasts where workspace_id = $1 and id = $2 and revision = $4 for share
     )
     update slices set settle_at = $5, begun_at = coalesce(begun_at, $6) from broadcast
     where workspace_id = $1 and broadcast_id = $2 and number = $3 and done_at is null
     returning number`,
    [workspaceId, id, number, revision, settleAt, now],
  );
  return rows.length > 0;
}

/** A later pass counts only once it is complete: its beginning alone would show too little. */
export async function saveTally(
  context: Clocked,
  slice: Slice,
  tally: SliceTally,
  settleAt: Date | null,
): Promise<void> {
  if (tally.position === tally.startedAt) {
    return saveWhole(context, slice, { tally, whole: shownTally(slice, tally), settleAt });
  }
  if (!tally.isFirstPass && tally.position < slice.size) return;
  await save(context, slice, tally, { answered: tally.position, beyond: null, settleAt });
}

/** `whole` is the tally with the outcomes after its position. */
export async function saveWhole(
  context: Clocked,
  slice: Slice,
  { tally, whole, settleAt }: { tally: SliceTally; whole: SliceTally; settleAt: Date | null },
): Promise<void> {
  const left = tally.isFirstPass
    ? { answered: tally.position, beyond: difference(whole, tally) }
    : { answered: slice.size, beyond: null };
  await save(context, slice, whole, { ...left, settleAt });
}

type Left = { answered: number; beyond: SliceCounts | null; settleAt: Date | null };

async function save(
  { store, now }: Clocked,
  slice: Slice,
  counts: SliceTally,
  { answered, beyond, settleAt }: Left,
): Promise<void> {
  const { sent, failed, skipped, deferred } = counts;
  const isDone = answered === slice.size && sent + failed + skipped === slice.size;
  await query(
    store.fork(),
    `update slices
     set answered = $4, sent = $5, failed = $6, skipped = $7, deferred = $8, unknown = $9,
         next_due_at = $10, done_at = $11, unrendered = $12, unrendered_reason = $13, beyond = $14,
         settle_at = $15
     where workspace_id = $1 and broadcast_id = $2 and number = $3
       and answered <= $4 and done_at is null`,
    [
      ...[slice.workspace_id, slice.broadcast_id, slice.number, answered],
      ...[sent, failed, skipped, deferred, counts.unknown, counts.nextDueAt],
      isDone ? now() : null,
      ...[counts.unrendered, counts.unrenderedReason],
      beyond && JSON.stringify(beyond),
      isDone ? null : settleAt,
    ],
  );
}
