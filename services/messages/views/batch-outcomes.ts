import { durationFromMs, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Outage } from '../admission/admit.ts';
import type { Fate } from '../message.ts';
import { renderFailureReason } from '../render/failure.ts';

type Known = { fates: ReadonlyMap<string, Fate>; outage?: Outage; retryAfterMs?: number };

/** Counts the outcomes of `total` recipients. A recipient without an outcome was not started. */
export function toBatchOutcomes(total: number, { fates, outage, retryAfterMs = 0 }: Known) {
  const counts = { sent: 0, failed: 0, skipped: 0, deferred: 0, sending: 0 };
  let unknown = 0;
  let nextDueAt: Date | undefined;
  const failureReasons: string[] = [];
  for (const { status, unknown: times, info, dueAt } of fates.values()) {
    counts[status] += 1;
    const reason = status === 'failed' ? renderFailureReason(info) : undefined;
    if (reason !== undefined) failureReasons.push(reason);
    if (times > 0) unknown += 1;
    if (status === 'deferred' && dueAt && (!nextDueAt || dueAt < nextDueAt)) nextDueAt = dueAt;
  }
  const { sent, failed, skipped, deferred } = counts;
  const notStarted = total - sent - failed - skipped - deferred;
  return {
    ...{ sent, failed, skipped, deferred, notStarted, unknown },
    nextDueAt: nextDueAt && timestampFromDate(nextDueAt),
    outage: outage?.reason,
    outageEndsAt: outage?.endsAt && timestampFromDate(outage.endsAt),
    retryAfter: retryAfterMs > 0 ? durationFromMs(retryAfterMs) : undefined,
    unrendered: failureReasons.length,
    unrenderedReason: failureReasons[0],
  };
}
