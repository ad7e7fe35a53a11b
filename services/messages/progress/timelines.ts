import { AsyncResource } from 'node:async_hooks';
import { Code } from '@connectrpc/connect';
import { LruMap } from '#lib/collections/lru-map.ts';
import { retryLater } from '#lib/errors/errors.ts';
import type { Stretch, Timeline } from './timeline.ts';

type TimelineRequest = Stretch & { isOver: boolean };

const broadcastsMax = 500;
const waitingMax = 20;
const retryMs = 5_000;
const keepMs = 10_000;
const keepLongMs = 60_000;
/** However many people look, reading takes at most a twentieth of the time. */
const restShare = 20;

/**
 * Reads timelines one after the other, and keeps each for a while. Callers of one broadcast share
 * its read.
 */
export function createTimelines(
  read: (stretch: Stretch) => Promise<Timeline>,
): (asked: TimelineRequest) => Promise<Timeline> {
  const kept = new LruMap<Promise<Timeline>>({ max: broadcastsMax });
  // Others wait for a read, so that it must not end with the call that began it.
  const readForAll = AsyncResource.bind(read);
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return async (asked) => {
    const key = `${asked.workspaceId} ${asked.broadcastId}`;
    const known = kept.get(key);
    if (known) return known;
    if (waiting >= waitingMax) {
      throw retryLater('too many broadcasts wait to be read', Code.Unavailable, retryMs);
    }
    waiting += 1;
    const reading = last.then(async () => {
      const startMs = performance.now();
      let isGood = false;
      try {
        const timeline = await readForAll(asked);
        isGood = true;
        return timeline;
      } finally {
        waiting -= 1;
        const tookMs = performance.now() - startMs;
        const least = isGood && !asked.isOver ? keepMs : keepLongMs;
        kept.set(key, reading, { ttl: Math.max(least, restShare * tookMs) });
      }
    });
    last = reading.catch(() => {});
    kept.set(key, reading);
    return reading;
  };
}
