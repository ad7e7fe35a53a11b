import { durationFromMs, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';
import type { Context, Methods } from '../context.ts';
import { readTimeline } from '../progress/timeline.ts';
import { createTimelines } from '../progress/timelines.ts';

export function getBroadcastTimeline({ facts }: Context): Methods['getBroadcastTimeline'] {
  const timelineOf = createTimelines((stretch) => readTimeline(facts, stretch));
  return async ({ workspaceId, broadcastId, isOver, ...asked }) => {
    const since = asked.since ? timestampMs(asked.since) / 1_000 : 0;
    const until = asked.until ? timestampMs(asked.until) / 1_000 : 0;
    if (until <= since) throw invalidField('until', 'until must be later than since');
    const stretch = { workspaceId, broadcastId, since, until, isOver };
    const { step, since: start, ...counts } = await timelineOf(stretch).catch(inTime);
    return {
      ...counts,
      since: counts.sent.length > 0 ? timestampFromMs(start * 1_000) : undefined,
      step: durationFromMs(step * 1_000),
    };
  };
}

/** PostgreSQL's `query_canceled`. */
const cancelled = '57014';

function inTime(error: unknown): never {
  const isLate = error instanceof Error && 'code' in error && error.code === cancelled;
  if (!isLate) throw error;
  throw new ConnectError('the messages are too many to read in time', Code.DeadlineExceeded);
}
