import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { DataFeed, Feed } from '#gen/postrider/broadcasts/v1/feeds_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Feed as SealedFeed } from '#lib/outside/feed.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Context } from '../context.ts';
import { checkHeaders, type Place, sealHeaders } from './headers.ts';
import { feedUrlFault } from './url.ts';

export type StoredFeed = SealedFeed & { enabled: boolean };

export type StoredDataFeed = { global_feed?: StoredFeed; recipient_feed?: StoredFeed };

type Kind = 'global' | 'recipient';

function placeOf(kind: Kind): Place {
  return { path: `data_feed.${kind}_feed.`, prefix: `${kind} feed: ` };
}

/** Checks what create and update are given. */
export async function checkDataFeed(
  context: Context,
  { dataFeed }: { dataFeed?: DataFeed | undefined },
): Promise<void> {
  await checkFeed(context, 'global', dataFeed?.globalFeed);
  await checkFeed(context, 'recipient', dataFeed?.recipientFeed);
}

async function checkFeed({ egress }: Context, kind: Kind, feed: Feed | undefined): Promise<void> {
  if (!feed) return;
  const place = placeOf(kind);
  if (feed.enabled) {
    const fault = feed.url
      ? await feedUrlFault(egress, feed.url)
      : `URL is required when ${kind} feed is enabled`;
    const about = feed.url ? `${kind} feed URL: ` : '';
    if (fault) throw invalidField(`${place.path}url`, `${place.prefix}${about}${fault}`);
  }
  checkHeaders(feed.headers, place);
}

/** What is kept after an update: each feed that is not given stays as it is. */
export function storedDataFeed(
  keyring: Keyring,
  given: DataFeed | undefined,
  before: StoredDataFeed | null,
): StoredDataFeed | null {
  if (!given) return before;
  const stored = (kind: Kind, feed: Feed | undefined) => {
    const kept = before?.[`${kind}_feed`];
    if (!feed) return kept;
    const headers = sealHeaders(keyring, feed, { kept, ...placeOf(kind) });
    return { enabled: feed.enabled, url: feed.url, headers };
  };
  const global = stored('global', given.globalFeed);
  const recipient = stored('recipient', given.recipientFeed);
  return {
    ...(global ? { global_feed: global } : {}),
    ...(recipient ? { recipient_feed: recipient } : {}),
  };
}

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
