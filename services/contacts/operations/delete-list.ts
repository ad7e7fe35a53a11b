import type { ServiceImpl } from '@connectrpc/connect';
import type { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { addJob } from '#lib/jobs/jobs.ts';
import type { Context } from '../context.ts';
import { lockList } from '../list-queries.ts';

/** The list is gone at once; a job ends its memberships, which may be a million. */
export function deleteList({ store, now }: Context): ServiceImpl<typeof ListService>['deleteList'] {
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
