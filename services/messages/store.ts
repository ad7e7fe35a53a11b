import { openStore, type Store } from '#lib/store.ts';
import { Initial } from './migrations/m0001-initial.ts';

export function openMessagesStore(url: string): Promise<Store> {
  return openStore({
    name: 'messages',
    url,
    entities: [],
    migrations: [{ name: 'm0001-initial', class: Initial }],
  });
}
