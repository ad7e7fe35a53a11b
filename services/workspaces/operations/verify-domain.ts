import type { Context, Methods } from '../context.ts';
import { verifyNow } from '../domain-checks/verify.ts';
import { findKeys } from '../domains/queries.ts';
import { domainMessage } from '../views/domain.ts';

export function verifyDomain(context: Context): Methods['verifyDomain'] {
  return async ({ workspaceId, name }) => {
    const domain = await verifyNow(context, { workspaceId, name });
    const keys = await findKeys(context.store.fork(), [domain]);
    return { domain: domainMessage(domain, keys, context.installation) };
  };
}
