import type { ServiceImpl } from '@connectrpc/connect';
import type { IntegrationUseService } from '#gen/postrider/events/v1/events_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '../../postgres/query.ts';
import type { Store } from '../../postgres/store.ts';
import { callerOf } from './access.ts';

type Methods = ServiceImpl<typeof IntegrationUseService>;

const namedMax = 5;

/**
 * The RPC of services whose work is bound to integrations. `usesSql` selects `kind` and `name` of
 * unfinished work of the workspace $1 that is bound to the integration $2, or with `withUnbound` to
 * none yet.
 */
export function listIntegrationUses(
  store: Store,
  usesSql: (withUnbound: boolean) => string,
): Methods['listIntegrationUses'] {
  return async ({ workspaceId, integrationId, withUnbound }, call) => {
    if (callerOf(call).subject !== 'workspaces') {
      throw refusal('SERVICES_ONLY', 'only the workspaces service may call this');
    }
    const rows = await query<{ kind: string; name: string; count: number }>(
      store.fork(),
      `select kind, name, count(*) over ()::int as count from (${usesSql(withUnbound)}) uses
       order by kind, name limit ${namedMax}`,
      [workspaceId, integrationId],
    );
    return {
      uses: rows.map(({ kind, name }) => ({ kind, name })),
      count: rows[0]?.count ?? 0,
    };
  };
}
