import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { expectTemplateUses } from '#lib/jobs/template-uses.ts';
import { query } from '#lib/postgres/query.ts';
import { quotaExceeded } from '#lib/quotas/quotas.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { List } from '../list.ts';
import { optInTemplateOf } from '../subscription/opt-in-template.ts';
import { beginListUse, listUser } from '../subscription/template-uses.ts';
import { welcomeOf } from '../subscription/welcome.ts';
import { listMessage } from '../views/list.ts';

export function createList(context: Context): Methods['createList'] {
  const { store, quotas, now } = context;
  return async (request, call) => {
    const template = await optInTemplateOf(context, request);
    const welcome = await welcomeOf(context, request);
    const { workspaceId, id } = request;
    const quota = await quotas.quotaOf(workspaceId, 'lists');
    if (template) await expectTemplateUses(store, listUser(request));
    return once(store, call, ListService.method.createList, request, async (em) => {
      // Without it two concurrent calls could both create the last list.
      await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`lists ${workspaceId}`]);
      if (await em.findOne(List, { workspace_id: workspaceId, id })) {
        throw refusal('ALREADY_EXISTS', 'List already exists');
      }
      const used = await em.count(List, { workspace_id: workspaceId, deleted_at: null });
      if (used >= quota) throw quotaExceeded('lists', { used, quota });
      const at = now();
      const list = em.create(List, {
        workspace_id: workspaceId,
        id,
        name: request.name,
        is_double_optin: request.isDoubleOptin,
        is_public: request.isPublic,
        description: request.description,
        double_optin_template: template,
        welcome,
        created_at: at,
        updated_at: at,
      });
      await em.flush();
      if (template) await beginListUse(em, context, list);
      return { list: listMessage(list) };
    });
  };
}
