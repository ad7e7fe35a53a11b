import type { Keyring } from '#lib/keys/keyring.ts';
import { resealEach, type SealedColumn } from '#lib/postgres/reseal.ts';
import type { SealedHeader, StoredDataFeed } from '../broadcast-row.ts';
import { type FeedKey, feedHeaders, storedPlace } from './headers.ts';

type Headers = readonly SealedHeader[];

/** Everything that this service stores sealed: the headers of feeds, also of those in plans. */
export function sealedColumns(keyring: Keyring): SealedColumn[] {
  const row = { table: 'broadcasts', id: { name: 'id', type: 'text' }, type: 'jsonb' } as const;
  const isCurrent = (workspaceId: string, headers: Headers = []) =>
    headers.every(({ sealed_value }) => keyring.isCurrent(feedHeaders, sealed_value, workspaceId));
  const sealed = (key: FeedKey, headers: Headers) =>
    headers.map(({ name, sealed_value }) => {
      const place = storedPlace(key, name);
      const value = keyring.open(feedHeaders, sealed_value, place);
      return { name, sealed_value: keyring.seal(feedHeaders, value, place) };
    });
  const stored: SealedColumn<StoredDataFeed> = {
    ...{ ...row, batchRows: 100, read: 't.data_feed', column: 'data_feed', write: 'given.value' },
    reseal: resealEach(
      ({ workspaceId, value }) =>
        isCurrent(workspaceId, value.global_feed?.headers) &&
        isCurrent(workspaceId, value.recipient_feed?.headers),
      ({ workspaceId, id, value: { global_feed: global, recipient_feed: recipient } }) => {
        const key = { workspaceId, id };
        const anew = <Feed extends { headers: Headers }>(kind: FeedKey['kind'], feed: Feed) => ({
          ...feed,
          headers: sealed({ ...key, kind }, feed.headers),
        });
        return {
          ...(global ? { global_feed: anew('global', global) } : {}),
          ...(recipient ? { recipient_feed: anew('recipient', recipient) } : {}),
        };
      },
    ),
  };
  const pinned: SealedColumn<Headers> = {
    ...{ ...row, batchRows: 100, column: 'plan' },
    read: "t.plan->'recipient_feed'->'headers'",
    write: "jsonb_set(t.plan, '{recipient_feed,headers}', given.value)",
    reseal: resealEach(
      ({ workspaceId, value }) => isCurrent(workspaceId, value),
      ({ workspaceId, id, value }) => sealed({ workspaceId, id, kind: 'recipient' }, value),
    ),
  };
  return [stored, pinned];
}
