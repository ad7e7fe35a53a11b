import {
  type ListTemplatesRequest,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { pageOf } from '#lib/limits/page.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { restAfter } from '#lib/rpc/server/limits.ts';
import { categoryWord } from '../content/category.ts';
import type { Context, Methods } from '../context.ts';
import { LargeReads, restMsOf } from '../pages/large-reads.ts';
import { findNewestOf } from '../template-queries.ts';
import { toTemplate } from '../views/template.ts';

/** All templates of a workspace. */
const limitDefault = 1_000;
/** Take some milliseconds to parse. */
const bytesAtOnce = 512 * 1024;
const channels = new Map<TemplateChannel, string>([
  [TemplateChannel.EMAIL, 'email'],
  [TemplateChannel.WEB, 'web'],
]);

type VersionRow = { id: string; version: number; size_bytes: number };

export function listTemplates({ store }: Context): Methods['listTemplates'] {
  const large = new LargeReads();
  return async (request, context) => {
    const em = store.fork();
    const { limit = limitDefault, workspaceId } = request;
    const rows = await newestVersions(em, request, limit + 1);
    const { page, isLast } = pageOf(rows, limit, (row) => row.size_bytes);
    restAfter(context, restMsOf(bytesOf(page)));
    const templates = await large.run(workspaceId, () => readAll(em, workspaceId, page));
    const last = page.at(-1);
    return {
      templates,
      nextCursor: isLast || !last ? undefined : `${last.id}.${last.version}`,
    };
  };
}

/** Reads in portions: nothing else runs while the rows of one are parsed. */
async function readAll(em: EntityManager, workspaceId: string, rows: readonly VersionRow[]) {
  const templates: ReturnType<typeof toTemplate>[] = [];
  for (let rest = rows; rest.length > 0; ) {
    const portion = portionOf(rest);
    const ids = portion.map(({ id }) => id);
    templates.push(...(await findNewestOf(em, workspaceId, ids)).map(toTemplate));
    rest = rest.slice(portion.length);
  }
  return templates;
}

const bytesOf = (rows: readonly VersionRow[]) => rows.reduce((sum, row) => sum + row.size_bytes, 0);

/** The first rows with `bytesAtOnce` in all; at least one. */
function portionOf(rows: readonly VersionRow[]): readonly VersionRow[] {
  let bytes = 0;
  const end = rows.findIndex(({ size_bytes: size }, index) => {
    bytes += size;
    return index > 0 && bytes > bytesAtOnce;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

/** A page follows a version, which is found even if the template was changed or deleted since. */
async function newestVersions(
  em: EntityManager,
  { workspaceId, category, channel, cursor }: ListTemplatesRequest,
  limit: number,
): Promise<VersionRow[]> {
  const after = cursor === '' ? undefined : await placeOf(em, workspaceId, cursor);
  return query<VersionRow>(
    em,
    `select id, version, size_bytes from templates
     where workspace_id = $1 and is_newest
       and ($2::text is null or category = $2) and ($3::text is null or channel = $3)
       and ($4::timestamptz is null or (updated_at, id) < ($4, $5::text))
     order by updated_at desc, id desc limit $6`,
    [
      workspaceId,
      category === 0 ? null : (categoryWord(category) ?? ''),
      channels.get(channel) ?? null,
      after?.updated_at ?? null,
      after?.id ?? null,
      limit,
    ],
  );
}

async function placeOf(em: EntityManager, workspaceId: string, cursor: string) {
  const [, id, version] = /^([\w-]{1,32})\.(\d{1,9})$/.exec(cursor) ?? [];
  const [row] = await query<{ updated_at: string; id: string }>(
    em,
    'select updated_at, id from templates where workspace_id = $1 and id = $2 and version = $3::int',
    [workspaceId, id ?? '', version ?? 0],
  );
  if (!row) throw invalidField('cursor', 'invalid cursor');
  return row;
}
