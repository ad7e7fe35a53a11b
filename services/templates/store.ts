import { openStore, type Store } from '#lib/postgres/store.ts';
import type { QuotaContext } from '#lib/quotas/quotas.ts';
import { Initial } from './migrations/m0001-initial.ts';
import { Translations } from './migrations/m0002-translations.ts';
import { Lifecycle } from './migrations/m0003-lifecycle.ts';
import { UseVersions } from './migrations/m0004-use-versions.ts';
import { Template } from './template.ts';
import { TemplateBlock } from './template-block.ts';

export const migrations = {
  'm0001-initial': Initial,
  'm0002-translations': Translations,
  'm0003-lifecycle': Lifecycle,
  'm0004-use-versions': UseVersions,
};

export function openTemplatesStore(url: string, connectionsMax?: number): Promise<Store> {
  return openStore({
    name: 'templates',
    url,
    connectionsMax,
    entities: [Template, TemplateBlock],
    migrations,
  });
}

/** SQL that counts what a workspace uses of each quota. */
export const counts: QuotaContext['counts'] = {
  templates: 'select count(*) as used from templates where workspace_id = $1 and is_newest',
  template_bytes:
    'select coalesce(sum(size_bytes), 0) as used from templates where workspace_id = $1',
  template_blocks: 'select count(*) as used from template_blocks where workspace_id = $1',
};
