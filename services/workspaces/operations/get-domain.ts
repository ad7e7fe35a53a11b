import type { Context, Methods } from '../context.ts';
import { findDomain, findKeys } from '../domains/queries.ts';
import { domainMessage } from '../views/domain.ts';

export function getDomain({ store, installation, setupLinks }: Context): Methods['getDomain'] {
  return async ({ workspaceId, name: given }) => {
    const em = store.fork();
    const domain = await findDomain(em, workspaceId, given);
    return {
      domain: domainMessage(domain, await findKeys(em, [domain]), installation),
      setupUrl: setupLinks.urlOf(domain),
    };
  };
}
