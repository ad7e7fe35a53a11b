import { pageOf } from '#lib/limits/page.ts';
import { readCursor, writeCursor } from '#lib/postgres/cursor.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { restAfter } from '#lib/rpc/server/limits.ts';
import type { Context, Methods } from '../context.ts';
import { LargeReads, restMsOf } from '../pages/large-reads.ts';
import { TemplateBlock } from '../template-block.ts';
import { isBlockId } from '../template-block-queries.ts';
import { toTemplateBlock } from '../views/template-block.ts';

/** All blocks of a workspace. */
const limitDefault = 500;
const nameMax = 255;

type PageStart = { name: string; id: string };

export function listTemplateBlocks({ store }: Context): Methods['listTemplateBlocks'] {
  const large = new LargeReads();
  return async ({ workspaceId, limit = limitDefault, cursor }, context) => {
    const em = store.fork();
    const after = cursor === '' ? undefined : readCursor(cursor, blockIn);
    const rows = await rowsAfter(em, workspaceId, { after, limit: limit + 1 });
    const { page, isLast } = pageOf(rows, limit, (row) => row.size_bytes);
    const id = { $in: page.map((row) => row.id) };
    const bytes = page.reduce((sum, row) => sum + row.size_bytes, 0);
    restAfter(context, restMsOf(bytes));
    const blocks = await large.run(workspaceId, () =>
      em.find(TemplateBlock, { workspace_id: workspaceId, id }),
    );
    const byId = new Map(blocks.map((block) => [block.id, block]));
    const last = page.at(-1);
    return {
      blocks: page.flatMap((row) => byId.get(row.id) ?? []).map(toTemplateBlock),
      nextCursor: isLast || !last ? undefined : writeCursor(`${last.id}${last.name}`),
    };
  };
}

function rowsAfter(
  em: EntityManager,
  workspaceId: string,
  { after, limit }: { after: PageStart | undefined; limit: number },
) {
  return query<PageStart & { size_bytes: number }>(
    em,
    `select id, name, size_bytes from template_blocks
     where workspace_id = $1 and ($2::text is null or (name, id) > ($2, $3::uuid))
     order by name, id limit $4`,
    [workspaceId, after?.name ?? null, after?.id ?? null, limit],
  );
}

function blockIn(place: string): PageStart | undefined {
  const [id, name] = [place.slice(0, 36), place.slice(36)];
  const isName = name !== '' && name.length <= nameMax && !name.includes('\0');
  return isBlockId(id) && isName ? { id, name } : undefined;
}
