import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { quotasOf } from '../quotas/quotas.ts';
import { Workspace } from '../workspace.ts';

/** For one resource of a workspace. */
const noticeEveryDays = 7;

export function reportQuotaUse(context: Context): Methods['reportQuotaUse'] {
  const { store, quotas: installation, now } = context;
  return async ({ workspaceId, resource, used, quota }) => {
    const at = now();
    await store.fork().transactional(async (em) => {
      const workspace = await em.findOne(Workspace, { id: workspaceId, deleted_at: null });
      // A report that comes late is about a quota or a workspace that is no more.
      if (!workspace || quotasOf(workspace.quotas, installation)[resource] !== quota) return;
      const noticed = await query(
        em,
        `insert into quota_notices as notice (workspace_id, resource, noticed_at) values ($1, $2, $3)
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
