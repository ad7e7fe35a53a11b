import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { expectTemplateUses } from '#lib/jobs/template-uses.ts';
import { query } from '#lib/postgres/query.ts';
import { refusal } from '#lib/rpc/reasons.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { List } from '../list.ts';
import { optInTemplateOf } from '../subscription/opt-in-template.ts';
import { beginListUse, listUser } from '../subscription/template-uses.ts';
import { listMessage } from '../views/list.ts';

const listsMax = 1_000;

export function createList(context: Context): Methods['createList'] {
  const { store, now } = context;
  return async (request, call) => {
    const template = await optInTemplateOf(context, request);
    const { workspaceId, id } = request;
    if (template) await expectTemplateUses(store, listUser(request));
    return once(store, call, ListService.method.createList, request, async (em) => {
      // Without it two concurrent calls could both create the last list.
      await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`lists ${workspaceId}`]);
      if (await em.findOne(List, { workspace_id: workspaceId, id })) {
        throw refusal('ALREADY_EXISTS', 'List already exists');
      }
      if ((await em.count(List, { workspace_id: workspaceId, deleted_at: null })) >= listsMax) {
        throw refusal('LIMIT_OF_WORKSPACE', `a workspace has at most ${listsMax} lists`);
      }
      const at = now();
      const list = em.create(List, {
        workspace_id: workspaceId,
        id,
        name: request.name,
        is_double_optin: request.isDoubleOptin,
        is_public: request.isPublic,
        description: request.description,
        double_optin_template: template,
        created_at: at,
        updated_at: at,
      });
      await em.flush();
      if (template) await beginListUse(em, context, list);
      return { list: listMessage(list) };
    });
  };
}
