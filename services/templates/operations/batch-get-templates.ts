import { hiddenArray } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { findVersions } from '../template-queries.ts';
import { toTemplate } from '../views/template.ts';

type VersionRow = { id: string; version: number; asked: number };

export function batchGetTemplates({ store }: Context): Methods['batchGetTemplates'] {
  return async ({ workspaceId, keys }) => {
    const em = store.fork();
    const rows = await query<VersionRow>(
      em,
      `select asked.id, asked.version as asked, found.version
       from (select distinct id, version from unnest(${hiddenArray('$2::text[]')}, $3::int[]) as key (id, version)) asked
       cross join lateral (
         select version from templates
         where workspace_id = $1 and id = asked.id
           and case when asked.version > 0 then version = asked.version else deleted_at is null end
         order by version desc limit 1
       ) found`,
      [workspaceId, keys.map(({ id }) => id), keys.map(({ version }) => version)],
    );
    const templateOf = await findVersions(em, workspaceId, rows);
    return {
      found: rows.map((row) => {
        const template = templateOf(row);
        return {
          key: { id: row.id, version: row.asked },
          template: template && toTemplate(template),
        };
      }),
    };
  };
}
