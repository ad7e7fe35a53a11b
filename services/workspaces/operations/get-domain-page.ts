import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Context, Methods } from '../context.ts';
import { findKeys, findLinked } from '../domains/queries.ts';
import { domainMessage } from '../views/domain.ts';
import { findWorkspace } from '../workspace-queries.ts';

export function getDomainPage(context: Context): Methods['getDomainPage'] {
  const { store, installation, setupLinks } = context;
  return async ({ token }) => {
    const link = setupLinks.read(token);
    const em = store.fork();
    const domain = await findLinked(em, link);
    const { name: workspaceName } = await findWorkspace(em, link.workspaceId);
    return {
      domain: domainMessage(domain, await findKeys(em, [domain]), installation),
      workspaceId: link.workspaceId,
      workspaceName,
      expiresAt: timestampFromDate(link.expiresAt),
    };
  };
}
