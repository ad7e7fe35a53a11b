import { addJob } from '#lib/jobs/jobs.ts';
import type { Context, Methods } from '../context.ts';
import { lockList } from '../list-queries.ts';

/** The list is gone at once; a job ends its memberships, which may be a million. */
export function deleteList({ store, now }: Context): Methods['deleteList'] {
  return ({ workspaceId, id }) =>
    store.fork().transactional(async (em) => {
      const list = await lockList(em, { workspaceId, id });
      list.deleted_at = now();
      await em.flush();
      await addJob(em, store.name, {
        task: 'endMemberships',
        payload: { workspaceId, listId: id },
      });
      return { success: true };
    });
}
