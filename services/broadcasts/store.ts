import { openStore, type Store } from '#lib/postgres/store.ts';
import { Slice } from './audience/slice.ts';
import { Broadcast } from './broadcast.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { Tests } from './migrations/m0002-tests.ts';
import { DataFeeds } from './migrations/m0003-data-feeds.ts';
import { Audiences } from './migrations/m0004-audiences.ts';
import { SlicesHoldAddresses } from './migrations/m0005-slices-hold-addresses.ts';
import { Unrendered } from './migrations/m0006-unrendered.ts';
import { SettledSlices } from './migrations/m0007-settled-slices.ts';
import { WatchCursor } from './migrations/m0008-watch-cursor.ts';

export const migrations = [
  { name: 'm0001-initial', class: Initial },
  { name: 'm0002-tests', class: Tests },
  { name: 'm0003-data-feeds', class: DataFeeds },
  { name: 'm0004-audiences', class: Audiences },
  { name: 'm0005-slices-hold-addresses', class: SlicesHoldAddresses },
  { name: 'm0006-unrendered', class: Unrendered },
  { name: 'm0007-settled-slices', class: SettledSlices },
  { name: 'm0008-watch-cursor', class: WatchCursor },
];

export function openBroadcastsStore(url: string): Promise<Store> {
  return openStore({ name: 'broadcasts', url, entities: [Broadcast, Slice], migrations });
}
