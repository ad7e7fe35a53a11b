import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { findNewest, lockTemplates } from '../template-queries.ts';

const namedMax = 5;
const nameLengthMax = 50;

/** The rows stay, for mail that was pinned to one of the versions. */
export function deleteTemplate({ store, now }: Context): Methods['deleteTemplate'] {
  return ({ workspaceId, id }, call) =>
    auditedTransaction(store, call, async (em) => {
      await lockTemplates(em, workspaceId);
      const { integration_id } = await findNewest(em, { workspaceId, id });
      if (integration_id !== '') {
        throw refusal(
          'TEMPLATE_IN_USE',
          `cannot delete integration-managed template: template is managed by integration ${integration_id}`,
        );
      }
      await checkUnused(em, workspaceId, id);
      await query(
        em,
        `update templates set deleted_at = $3, is_newest = false
         where workspace_id = $1 and id = $2 and deleted_at is null`,
        [workspaceId, id, now()],
      );
      return { success: true };
    });
}

async function checkUnused(em: EntityManager, workspaceId: string, id: string): Promise<void> {
  const users = await query<{ kind: string; name: string; count: number }>(
    em,
    `select kind, name, count(*) over ()::int as count
     from (
       select kind, coalesce(nullif(name, ''), user_id) as name
       from template_uses where workspace_id = $1 and template_id = $2
       union all
       select 'template', id from templates
       where workspace_id = $1 and template_macro_id = $2 and is_newest and template_macro_version > 0
     ) users
     order by case kind when 'notification' then 1 when 'list' then 2 when 'broadcast' then 3 else 4 end, name
     limit ${namedMax}`,
    [workspaceId, id],
  );
  const [first] = users;
  if (!first) return;
  const named = users.map(({ kind, name }) => `${kind} '${name.slice(0, nameLengthMax)}'`);
  const others = first.count - users.length;
  const more = others > 0 ? ` and ${others} more` : '';
  throw refusal('TEMPLATE_IN_USE', `template is used by ${named.join(', ')}${more}`);
}
