import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { lockTemplates } from '../template-queries.ts';

export function setTemplateUses({ store }: Context): Methods['setTemplateUses'] {
  return ({ workspaceId, kind, id, name, templateIds, version }) =>
    store.fork().transactional(async (em) => {
      await lockTemplates(em, workspaceId);
      const newest = await keepVersion(em, { workspaceId, kind, id, version });
      if (newest > version) return { version: newest };
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
      return { version };
    });
}

type Push = { workspaceId: string; kind: string; id: string; version: bigint };

/** The highest version of the user's pushes, this one included. */
async function keepVersion(
  em: EntityManager,
  { workspaceId, kind, id, version }: Push,
): Promise<bigint> {
  if (version === 0n) return 0n;
  const [row] = await query<{ version: string }>(
    em,
    `insert into template_users as known (workspace_id, kind, user_id, version, pushed_at)
     values ($1, $2, $3, $4, now())
     on conflict (workspace_id, kind, user_id) do update set
       version = greatest(known.version, excluded.version), pushed_at = excluded.pushed_at
     returning version`,
    [workspaceId, kind, id, version],
  );
  return BigInt(row?.version ?? 0);
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
