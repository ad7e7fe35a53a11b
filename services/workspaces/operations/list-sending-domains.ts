import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { findDomains, findKeys } from '../domains/queries.ts';
import { sendingOf } from '../domains/sending.ts';
import { findWorkspace } from '../workspace-queries.ts';

export function listSendingDomains({ store }: Context): Methods['listSendingDomains'] {
  return async ({ workspaceId }) => {
    const em = store.fork();
    const domains = await findDomains(em, workspaceId);
    if (domains.length === 0) {
      await findWorkspace(em, workspaceId);
      return { domains: [] };
    }
    const owned = await query<{ name: string }>(
      em,
      'select name from domain_owners where workspace_id = $1',
      [workspaceId],
    );
    const names = new Set(owned.map(({ name }) => name));
    const keys = await findKeys(em, domains);
    return {
      domains: domains.flatMap((domain) => {
        const ownKeys = keys.filter((key) => key.domain === domain.name);
        return sendingOf(domain, ownKeys, { isOwn: names.has(domain.name) }) ?? [];
      }),
    };
  };
}
