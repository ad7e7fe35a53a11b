import { Context } from '@temporalio/activity';
import { buildSegment } from '../segments/build/build.ts';
import type { MoveContext } from '../segments/live/move.ts';
import type { SegmentKey } from '../segments/segment.ts';

const workMaxMs = 60_000;

/** Builds a segment for a minute at most. Answers whether there is more to do. */
export function build(context: MoveContext) {
  return async (key: SegmentKey): Promise<{ hasMore: boolean }> => {
    const activity = Context.current();
    const hasMore = await buildSegment(context, key, {
      until: new Date(Date.now() + workMaxMs),
      signal: activity.cancellationSignal,
      heartbeat: (count) => activity.heartbeat({ contacts: count }),
    });
    return { hasMore };
  };
}
