import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast } from '../broadcast.ts';
import type { StoredDataFeed, StoredFeed } from '../broadcast-row.ts';
import { readGlobalFeed } from '../feeds/global.ts';

type Shown = { data_feed?: StoredDataFeed | null; global_feed_fetched_at?: Date | null };

/** The feeds as the API shows them; secrets stay inside. */
export function dataFeedMessage({ data_feed, global_feed_fetched_at }: Shown, data?: JsonObject) {
  if (!data_feed && !global_feed_fetched_at) return undefined;
  return {
    globalFeed: feedMessage(data_feed?.global_feed),
    recipientFeed: feedMessage(data_feed?.recipient_feed),
    globalFeedData: data,
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

/** The feeds as the API shows them, with the answer that is kept. */
export async function wholeDataFeed(em: EntityManager, broadcast: Broadcast) {
  const key = { workspaceId: broadcast.workspace_id, id: broadcast.id };
  const json = await readGlobalFeed(em, key);
  return dataFeedMessage(broadcast, json === '' ? undefined : JSON.parse(json));
}
