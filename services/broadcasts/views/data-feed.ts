import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { StoredDataFeed, StoredFeed } from '../broadcast/row.ts';

type Shown = { data_feed?: StoredDataFeed | null; global_feed_fetched_at?: Date | null };

/**
 * The feeds without their secrets; `globalFeedJson` is the stored answer of the global feed, if
 * any.
 */
export function dataFeedMessage({ data_feed, global_feed_fetched_at }: Shown, globalFeedJson = '') {
  if (!data_feed && !global_feed_fetched_at) return undefined;
  return {
    globalFeed: feedMessage(data_feed?.global_feed),
    recipientFeed: feedMessage(data_feed?.recipient_feed),
    globalFeedData: globalFeedJson === '' ? undefined : JSON.parse(globalFeedJson),
    globalFeedFetchedAt: global_feed_fetched_at
      ? timestampFromDate(global_feed_fetched_at)
      : undefined,
  };
}

function feedMessage(feed: StoredFeed | undefined) {
  if (!feed) return undefined;
  const { enabled, url, headers } = feed;
  return { enabled, url, headers: headers.map(({ name }) => ({ name, value: '' })) };
}
