import { addJob } from '#lib/jobs/jobs.ts';
import { endTemplateUses } from '#lib/jobs/template-uses.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { lockList } from '../list-queries.ts';
import { listUser } from '../subscription/template-uses.ts';

/** The list is gone at once; a job ends its memberships, which may be a million. */
export function deleteList({ store, now }: Context): Methods['deleteList'] {
  return ({ workspaceId, id }, call) =>
    auditedTransaction(store, call, async (em) => {
      const list = await lockList(em, { workspaceId, id });
      list.deleted_at = now();
      await em.flush();
      if (list.double_optin_template) {
        await endTemplateUses(em, store.name, listUser({ workspaceId, id }));
      }
      await addJob(em, store.name, {
        task: 'endMemberships',
        payload: { workspaceId, listId: id },
      });
      return { success: true };
    });
}
