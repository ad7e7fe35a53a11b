import { endTemplateUses, expectTemplateUses, releaseTemplates } from '#lib/jobs/template-uses.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { lockList } from '../list-queries.ts';
import { optInTemplateOf } from '../subscription/opt-in-template.ts';
import { beginListUse, listUser, listUses } from '../subscription/template-uses.ts';
import { welcomeOf } from '../subscription/welcome.ts';
import { listMessage } from '../views/list.ts';

export function updateList(context: Context): Methods['updateList'] {
  const { store, now } = context;
  return async (request, call) => {
    const template = await optInTemplateOf(context, request);
    const welcome = await welcomeOf(context, request);
    if (template) await expectTemplateUses(store, listUser(request));
    let isFreed = false;
    const answer = await auditedTransaction(store, call, async (em) => {
      const list = await lockList(em, request);
      const before = list.double_optin_template?.id;
      list.name = request.name;
      list.is_double_optin = request.isDoubleOptin;
      list.is_public = request.isPublic;
      list.description = request.description;
      list.double_optin_template = template;
      list.welcome = welcome;
      list.updated_at = now();
      if (template) await beginListUse(em, context, list, before);
      else if (before) await endTemplateUses(em, store.name, listUser(request));
      isFreed = before !== undefined && before !== template?.id;
      return { list: listMessage(list) };
    });
    if (isFreed) await releaseTemplates({ ...context, usesOf: listUses }, listUser(request));
    return answer;
  };
}
