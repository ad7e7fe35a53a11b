import { bulkWorkMaxMs } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import { addEnding } from '../consent/ending.ts';
import { removeMemberships } from '../consent/membership-queries.ts';
import type { Context } from '../context.ts';

const pageSize = 1_000;

type Ending = Pick<Context, 'store' | 'outbox' | 'now'>;

/**
 * Ends the memberships of a deleted list, page by page; a run gives way after some seconds, and a
 * repeat continues where the last one stopped.
 */
export function endMemberships({ store, outbox, now }: Ending, workMaxMs = bulkWorkMaxMs) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, listId } = payload as { workspaceId: string; listId: string };
    const endsAtMs = Date.now() + workMaxMs;
    let after = '';
    for (;;) {
      const page = await query<{ email: string }>(
        store.fork(),
        `select email from memberships
         where workspace_id = $1 and list_id = $2 and email > $3 and deleted_at is null
         order by email limit ${pageSize}`,
        [workspaceId, listId, after],
      );
      const emails = page.map(({ email }) => email);
      const removal = { listId, emails, at: now() };
      await store
        .fork()
        .transactional((em) => removeMemberships({ em, outbox, workspaceId }, removal));
      if (emails.length < pageSize) return;
      if (Date.now() >= endsAtMs) return addEnding(store.fork(), { workspaceId, listId });
      after = emails.at(-1) ?? after;
    }
  };
}
