import { TemplateService } from '#gen/postrider/templates/v1/templates_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { quotaExceeded } from '#lib/quotas/quotas.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { checkLayoutIsLive } from '../content/layout.ts';
import { takeRoom } from '../content/room.ts';
import { storedContent } from '../content/stored-content.ts';
import type { Context, Methods } from '../context.ts';
import { Template } from '../template.ts';
import { lockTemplates } from '../template-queries.ts';
import { toTemplate } from '../views/template.ts';

export function createTemplate(context: Context): Methods['createTemplate'] {
  const { store, quotas, now } = context;
  return async (request, call) => {
    const content = await storedContent(context, request, call.signal);
    const quota = await quotas.quotaOf(request.workspaceId, 'templates');
    const at = now();
    return once(store, call, TemplateService.method.createTemplate, request, async (em) => {
      const { workspaceId, id } = request;
      await lockTemplates(em, workspaceId);
      await checkLayoutIsLive(em, request);
      const last = await lastVersion(em, { workspaceId, id }, quota);
      takeRoom(quotas, workspaceId, content);
      const template = em.create(Template, {
        ...content,
        workspace_id: workspaceId,
        id,
        version: last + 1,
        integration_id: '',
        created_at: at,
        updated_at: at,
        is_newest: true,
      });
      await em.flush();
      return { template: toTemplate(template) };
    });
  };
}

/**
 * The last version of a deleted template of the same id. Versions follow it, so that pinned ones
 * stay what they are.
 */
async function lastVersion(
  em: EntityManager,
  { workspaceId, id }: { workspaceId: string; id: string },
  quota: number,
): Promise<number> {
  const [row] = await query<{ count: number; is_taken: boolean; last: number }>(
    em,
    `select (select count(*)::int from templates where workspace_id = $1 and is_newest) as count,
       coalesce(bool_or(is_newest), false) as is_taken, coalesce(max(version), 0) as last
     from templates where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
  if (row?.is_taken) throw refusal('ALREADY_EXISTS', 'Template id already exists');
  if (row && row.count >= quota) throw quotaExceeded('templates', { used: row.count, quota });
  return row?.last ?? 0;
}
