import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { readCursor, writeCursor } from '#lib/postgres/cursor.ts';
import { query } from '#lib/postgres/query.ts';
import { categoryOf } from '../content/category.ts';
import type { Context, Methods } from '../context.ts';
import { templateNotFound } from '../template.ts';

const limitDefault = 20;
const versionMax = 2 ** 31 - 1;

type VersionRow = { version: number; name: string; category: string; updated_at: string };

export function listTemplateVersions({ store }: Context): Methods['listTemplateVersions'] {
  return async ({ workspaceId, id, limit = limitDefault, cursor }) => {
    const before = cursor === '' ? versionMax : readCursor(cursor, versionIn);
    const rows = await query<VersionRow>(
      store.fork(),
      `select version, name, category, updated_at from templates
       where workspace_id = $1 and id = $2 and deleted_at is null and version < $3
       order by version desc limit $4`,
      [workspaceId, id, before, limit + 1],
    );
    if (rows.length === 0 && cursor === '') throw templateNotFound();
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      versions: page.map(({ version, name, category, updated_at }) => ({
        version,
        name,
        category: categoryOf(category),
        updatedAt: timestampFromDate(new Date(updated_at)),
      })),
      nextCursor: last && writeCursor(String(last.version)),
    };
  };
}

/** The version that a page follows. */
function versionIn(place: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(place) ? Number(place) : undefined;
}
