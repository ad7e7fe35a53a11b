import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { SendBatchResponse } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/store.ts';
import type { Context } from './context.ts';
import type { Slice } from './slice.ts';

/** The counts of a slice up to a position: so many of its recipients, from the first on. */
export type SliceTally = {
  /** The first pass goes on where it was; a later one asks again about everybody. */
  isFirstPass: boolean;
  startedAt: number;
  position: number;
  sent: number;
  failed: number;
  skipped: number;
  deferred: number;
  unknown: number;
  unrendered: number;
  unrenderedReason: string;
  nextDueAt: Date | null;
};

const nothing = {
  ...{ sent: 0, failed: 0, skipped: 0, deferred: 0, unknown: 0, unrendered: 0 },
  unrenderedReason: '',
  nextDueAt: null,
};

export function startTally(slice: Slice): SliceTally {
  const isFirstPass = slice.answered < slice.size;
  if (!isFirstPass) {
    return { isFirstPass, startedAt: 0, position: 0, ...nothing };
  }
  const { answered: position, sent, failed, skipped, deferred, unknown, unrendered } = slice;
  const counts = { sent, failed, skipped, deferred, unknown, unrendered };
  const unrenderedReason = slice.unrendered_reason;
  const nextDueAt = slice.next_due_at ?? null;
  return { isFirstPass, startedAt: position, position, ...counts, unrenderedReason, nextDueAt };
}

export function addAnswer(tally: SliceTally, position: number, answer: SendBatchResponse): void {
  tally.position = position;
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

/** A later pass counts only when it went through: its beginning alone would show too little. */
export async function saveTally(
  { store, now }: Context,
  slice: Slice,
  tally: SliceTally,
): Promise<void> {
  if (!tally.isFirstPass && tally.position < slice.size) return;
  const isDone = tally.position === slice.size && tally.deferred === 0;
  await query(
    store.fork(),
    `update slices
     set answered = $4, sent = $5, failed = $6, skipped = $7, deferred = $8, unknown = $9,
         next_due_at = $10, done_at = $11, unrendered = $12, unrendered_reason = $13
     where workspace_id = $1 and broadcast_id = $2 and number = $3
       and answered <= $4 and done_at is null`,
    [
      slice.workspace_id,
      slice.broadcast_id,
      slice.number,
      tally.position,
      tally.sent,
      tally.failed,
      tally.skipped,
      tally.deferred,
      tally.unknown,
      tally.nextDueAt,
      isDone ? now() : null,
      tally.unrendered,
      tally.unrenderedReason,
    ],
  );
}
