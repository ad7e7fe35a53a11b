import { endTemplateUses, releaseTemplates } from '#lib/jobs/template-uses.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import { addEnding } from '../consent/ending.ts';
import type { Context, Methods } from '../context.ts';
import { lockList } from '../list-queries.ts';
import { listUser, listUses } from '../subscription/template-uses.ts';

/** The list is gone at once; a job ends its memberships, which may be a million. */
export function deleteList(context: Context): Methods['deleteList'] {
  const { store, now } = context;
  return async ({ workspaceId, id }, call) => {
    const hadTemplate = await auditedTransaction(store, call, async (em) => {
      const list = await lockList(em, { workspaceId, id });
      list.deleted_at = now();
      await em.flush();
      if (list.double_optin_template) {
        await endTemplateUses(em, store.name, listUser({ workspaceId, id }));
      }
      await addEnding(em, { workspaceId, listId: id });
      return Boolean(list.double_optin_template);
    });
    if (hadTemplate) {
      await releaseTemplates({ ...context, usesOf: listUses }, listUser({ workspaceId, id }));
    }
    return { success: true };
  };
}
