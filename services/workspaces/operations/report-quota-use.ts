import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

/** For one resource of a workspace. */
const noticeEveryDays = 7;

export function reportQuotaUse({ store, now }: Context): Methods['reportQuotaUse'] {
  return async ({ workspaceId, resource, used, quota }) => {
    const at = now();
    await store.fork().transactional(async (em) => {
      const noticed = await query(
        em,
        `insert into quota_notices as notice (workspace_id, resource, noticed_at)
         select id, $2, $3 from workspaces where id = $1 and deleted_at is null
         on conflict (workspace_id, resource) do update set noticed_at = excluded.noticed_at
         where notice.noticed_at <= excluded.noticed_at - interval '${noticeEveryDays} days'
         returning 1`,
        [workspaceId, resource, at],
      );
      if (noticed.length === 0) return;
      const numbers = { used: Number(used), quota: Number(quota), noticedAt: at.toISOString() };
      const payload = { workspaceId, resource, ...numbers };
      await addJob(em, 'workspaces', { task: 'sendQuotaNotice', payload });
    });
    return {};
  };
}
