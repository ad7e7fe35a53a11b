import { openStore, type Store } from '#lib/postgres/store.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { Translations } from './migrations/m0002-translations.ts';
import { Template } from './template.ts';

export function openTemplatesStore(url: string): Promise<Store> {
  return openStore({
    name: 'templates',
    url,
    entities: [Template],
    migrations: {
      'm0001-initial': Initial,
      'm0002-translations': Translations,
    },
  });
}
