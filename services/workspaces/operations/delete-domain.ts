import { query } from '#lib/postgres/query.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences, shownDomain } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { lockDomainOf } from '../domains/queries.ts';
import { refreshMailSettings } from '../integrations/mail-settings.ts';

export function deleteDomain(context: Context): Methods['deleteDomain'] {
  return async ({ workspaceId, name: given }, call) => {
    await context.store.fork().transactional(async (em) => {
      const { domain, keys } = await lockDomainOf(em, workspaceId, given);
      const shown = shownDomain(domain, keys);
      for (const key of keys) em.remove(key);
      em.remove(domain);
      await em.flush();
      await query(em, 'delete from domain_owners where name = $1 and workspace_id = $2', [
        domain.name,
        workspaceId,
      ]);
      await recordChange(em, call, { targetId: domain.name, ...differences(shown, {}) });
    });
    await refreshMailSettings(context, workspaceId);
    return { status: 'success' };
  };
}
