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

const largeColumns = [
  ...['email', 'compiled', 'translations', 'compiled_translations'],
  ...['web', 'test_data', 'settings'],
];
/** Of a version without its large columns, and of its places in indexes. */
const rowBytes = 512;

/** Asks for the sizes of values, which PostgreSQL knows without reading them. */
const storedBytes = [
  rowBytes,
  ...largeColumns.map((column) => `coalesce(pg_column_size(${column}), 0)`),
].join(' + ');

/** SQL that counts what a workspace uses of each quota. */
export const counts: QuotaContext['counts'] = {
  templates: 'select count(*) as used from templates where workspace_id = $1 and is_newest',
  template_bytes: `select coalesce(sum(${storedBytes}), 0) as used from templates where workspace_id = $1`,
  template_blocks: 'select count(*) as used from template_blocks where workspace_id = $1',
};
