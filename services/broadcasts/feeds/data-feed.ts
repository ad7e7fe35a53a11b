import type { DataFeed, Feed } from '#gen/postrider/broadcasts/v1/feeds_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { StoredDataFeed } from '../broadcast/row.ts';
import { checkHeaders, type FieldPlace, openFeed, sealHeader, sealHeaders } from './headers.ts';
import { feedUrlFault } from './url.ts';

type Kind = 'global' | 'recipient';

function placeOf(kind: Kind): FieldPlace {
  return { path: `data_feed.${kind}_feed.`, prefix: `${kind} feed: ` };
}

/** Checks the feeds of a create or update request. */
export function checkDataFeed(
  { egress }: { egress: Egress },
  { dataFeed }: { dataFeed?: DataFeed | undefined },
): void {
  checkFeed(egress, 'global', dataFeed?.globalFeed);
  checkFeed(egress, 'recipient', dataFeed?.recipientFeed);
}

function checkFeed(egress: Egress, kind: Kind, feed: Feed | undefined): void {
  if (!feed) return;
  const place = placeOf(kind);
  if (feed.enabled) {
    const fault = feed.url
      ? feedUrlFault(egress, feed.url)
      : `URL is required when ${kind} feed is enabled`;
    const about = feed.url ? `${kind} feed URL: ` : '';
    if (fault) throw invalidField(`${place.path}url`, `${place.prefix}${about}${fault}`);
  }
  checkHeaders(feed.headers, place);
}

/** The feeds after an update: a feed that is absent from the request stays as it is. */
export function storedDataFeed(
  keyring: Keyring,
  given: DataFeed | undefined,
  { before, ...key }: BroadcastKey & { before: StoredDataFeed | null },
): StoredDataFeed | null {
  if (!given) return before;
  const stored = (kind: Kind, feed: Feed | undefined) => {
    const kept = before?.[`${kind}_feed`];
    if (!feed) return kept;
    const headers = sealHeaders(keyring, feed, {
      kept,
      key: { ...key, kind },
      ...placeOf(kind),
    });
    return { enabled: feed.enabled, url: feed.url, headers };
  };
  const global = stored('global', given.globalFeed);
  const recipient = stored('recipient', given.recipientFeed);
  return {
    ...(global ? { global_feed: global } : {}),
    ...(recipient ? { recipient_feed: recipient } : {}),
  };
}

/** The feeds for a copy of a broadcast: their headers are sealed for the copy. */
export function copiedDataFeed(
  keyring: Keyring,
  feeds: StoredDataFeed | null,
  { from, to }: { from: BroadcastKey; to: BroadcastKey },
): StoredDataFeed | null {
  if (!feeds) return null;
  const copied = (kind: Kind) => {
    const feed = feeds[`${kind}_feed`];
    if (!feed) return {};
    const opened = openFeed(keyring, { ...from, kind }, feed);
    const headers = opened.headers.map(({ name, value }) =>
      sealHeader(keyring, { ...to, kind }, { name, value }),
    );
    return { [`${kind}_feed`]: { ...feed, headers } };
  };
  return { ...copied('global'), ...copied('recipient') };
}
