import type { Context, Methods } from '../context.ts';
import { findDomains, findKeys } from '../domains/queries.ts';
import { domainMessage } from '../views/domain.ts';

export function listDomains({ store, installation }: Context): Methods['listDomains'] {
  return async ({ workspaceId }) => {
    const em = store.fork();
    const domains = await findDomains(em, workspaceId);
    const keys = await findKeys(em, domains);
    return { domains: domains.map((domain) => domainMessage(domain, keys, installation)) };
  };
}
