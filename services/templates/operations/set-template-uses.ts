import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { refusal } from '#lib/rpc/reasons.ts';
import type { Context, Methods } from '../context.ts';
import { lockTemplates } from '../template-queries.ts';

export function setTemplateUses({ store }: Context): Methods['setTemplateUses'] {
  return ({ workspaceId, kind, id, name, templateIds }) =>
    store.fork().transactional(async (em) => {
      await lockTemplates(em, workspaceId);
      const wanted = [...new Set(templateIds)];
      await checkAllExist(em, workspaceId, wanted);
      await query(
        em,
        `delete from template_uses
         where workspace_id = $1 and kind = $2 and user_id = $3 and template_id <> all($4::text[])`,
        [workspaceId, kind, id, wanted],
      );
      await query(
        em,
        `insert into template_uses (workspace_id, kind, user_id, template_id, name)
         select $1, $2, $3, template_id, $5 from unnest($4::text[]) as template_id
         on conflict (workspace_id, kind, user_id, template_id) do update set name = excluded.name`,
        [workspaceId, kind, id, wanted, name],
      );
      return {};
    });
}

async function checkAllExist(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const [missing] = await query<{ id: string }>(
    em,
    `select id from unnest($2::text[]) as wanted (id)
     where not exists (
       select from templates where workspace_id = $1 and templates.id = wanted.id and is_newest
     ) limit 1`,
    [workspaceId, ids],
  );
  if (missing) {
    throw refusal('TEMPLATE_NOT_FOUND', `template ${missing.id.slice(0, 32)} not found`);
  }
}
