import { openStore, type Store } from '#lib/store.ts';
import { Broadcast } from './broadcast.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { Tests } from './migrations/m0002-tests.ts';
import { Audiences } from './migrations/m0004-audiences.ts';
import { Slice } from './slice.ts';

export function openBroadcastsStore(url: string): Promise<Store> {
  return openStore({
    name: 'broadcasts',
    url,
    entities: [Broadcast, Slice],
    migrations: [
      { name: 'm0001-initial', class: Initial },
      { name: 'm0002-tests', class: Tests },
      { name: 'm0004-audiences', class: Audiences },
    ],
  });
}
