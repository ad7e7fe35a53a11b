/*
 * Data that this service keeps: of a workspace (erased with it), of a person (exported), and sealed
 * (sealed anew by `rotate-secrets`). A new table gets its lines here; its retention is a task.
 */

import type { Keyring } from '#lib/keys/keyring.ts';
import type { ErasedTable } from '#lib/postgres/erase.ts';
import { query } from '#lib/postgres/query.ts';
import { resealEach, type SealedColumn } from '#lib/postgres/reseal.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { SealedHeader, StoredDataFeed } from './broadcast/row.ts';
import { type FeedKey, feedHeaders, storedPlace } from './feeds/headers.ts';
import { addWake } from './lifecycle/wake.ts';

const broadcastsAtOnce = 100;

/**
 * What this service keeps of a workspace. A run whose broadcast is gone stops sending, and ends.
 */
export function erasedTables(store: Store): readonly ErasedTable[] {
  return [
    { table: 'broadcasts', erase: (workspaceId) => eraseBroadcasts(store, workspaceId) },
    { table: 'slices' },
    { table: 'audience_parts' },
    { table: 'audience_pages' },
    { table: 'global_feeds' },
    // The place of a check of runs, which then begins anew.
    { table: 'watch_cursor' },
    { table: 'idempotency_keys' },
  ];
}

function eraseBroadcasts(store: Store, workspaceId: string): Promise<number> {
  return store.fork().transactional(async (em) => {
    const rows = await query<{ id: string; is_live: boolean }>(
      em,
      `delete from broadcasts where ctid = any(array(
         select ctid from broadcasts where workspace_id = $1
         order by status in ('draft', 'sent', 'cancelled', 'failed') limit ${broadcastsAtOnce} for update
       ))
       returning id, status not in ('draft', 'sent', 'cancelled', 'failed') as is_live`,
      [workspaceId],
    );
    // Wakes name nothing of the workspace but ids, and outlive it.
    for (const { id, is_live } of rows) {
      if (is_live) await addWake(em, { key: { workspaceId, id }, name: '' });
    }
    return rows.length;
  });
}

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
