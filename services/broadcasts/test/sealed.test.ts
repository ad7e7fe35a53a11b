import { expect, test } from '@jest/globals';
import { createKeyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import { resealColumn } from '#lib/postgres/reseal.ts';
import { addKeys, keysetsOf, useKeys } from '../../../deploy/keys/installation.ts';
import { installation } from '../../../test/setup/service.ts';
import type { StoredDataFeed } from '../broadcast/row.ts';
import { openFeed } from '../feeds/headers.ts';
import { sealedColumns } from '../kept-data.ts';
import { givenBroadcast, givenHeader, newId, useService } from './given.ts';

const given = useService();
const keyset = keysetsOf(useKeys(addKeys(installation, {}))).broadcasts;
if (!keyset) throw new Error('no keys');
const rotated = createKeyring(keyset);
const onlyNew = createKeyring({
  ...keyset,
  boxes: { 'feed-headers': [keyset.boxes['feed-headers']?.[0] ?? ''] },
});

test('headers of feeds are sealed by the key in use, in drafts and in plans', async () => {
  const id = newId();
  const feedOf = (kind: 'global' | 'recipient') => ({
    ...{ enabled: true, url: 'https://feeds.example.com/' },
    headers: [givenHeader(id, kind)],
  });
  const { workspaceId } = await givenBroadcast(given, {
    id,
    data_feed: { global_feed: feedOf('global'), recipient_feed: feedOf('recipient') },
  });
  const em = () => given.context.store.fork();
  const { enabled: _, ...pinned } = feedOf('recipient');
  await query(em(), 'update broadcasts set plan = $2 where id = $1', [
    id,
    JSON.stringify({ recipient_feed: pinned, large: 12_345_678_901_234 }),
  ]);
  for (const column of sealedColumns(rotated)) {
    const done = await resealColumn(given.context.store, column, { info: () => {} });
    expect(done).toMatchObject({ resealed: 1, unreadable: 0 });
  }
  const [row] = await query<{ data_feed: StoredDataFeed; plan: StoredDataFeed }>(
    em(),
    'select data_feed, plan from broadcasts where id = $1',
    [id],
  );
  expect(row?.plan).toMatchObject({ large: 12_345_678_901_234 });
  for (const [feed, kind] of [
    [row?.data_feed.global_feed, 'global'],
    [row?.data_feed.recipient_feed, 'recipient'],
    [row?.plan.recipient_feed, 'recipient'],
  ] as const) {
    if (!feed) throw new Error(`no ${kind} feed`);
    expect(openFeed(onlyNew, { workspaceId, id, kind }, feed).headers).toEqual([
      { name: 'X-Key', value: 'secret' },
    ]);
    expect(feed.url).toBe('https://feeds.example.com/');
  }
});
