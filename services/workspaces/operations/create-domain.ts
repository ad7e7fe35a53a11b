import { randomBytes } from 'node:crypto';
import { DomainService } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { differences, shownDomain } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { Domain, domainsMax } from '../domains/domain.ts';
import { addKeys, makeKeys } from '../domains/keys.ts';
import { checkedAlgorithms, checkedHosts, checkedName } from '../domains/name.ts';
import { addDomainChecks } from '../domains/queries.ts';
import { domainMessage } from '../views/domain.ts';
import { lockWorkspace } from '../workspace-queries.ts';

/** A label of DNS, and more than can be guessed. */
const idBytes = 8;
const tokenBytes = 20;

export function createDomain(context: Context): Methods['createDomain'] {
  const { store, now, installation, setupLinks } = context;
  return async (request, call) => {
    const { workspaceId } = request;
    const name = checkedName(request.name);
    const algorithms = checkedAlgorithms(request.dkimAlgorithms);
    const hosts = checkedHosts(name, request, installation);
    const made = await makeKeys(context, { workspaceId, name }, algorithms);
    const at = now();
    return once(store, call, DomainService.method.createDomain, request, async (em) => {
      await lockWorkspace(em, workspaceId);
      await checkRoom(em, { workspaceId, name });
      const domain = em.create(Domain, {
        ...{ workspace_id: workspaceId, name, id: randomBytes(idBytes).toString('hex') },
        ownership_token: randomBytes(tokenBytes).toString('hex'),
        ...{ dkim_algorithms: algorithms, ...hosts, revision: 1, findings: {} },
        ...{ checks: 0, checked_at: null, next_check_at: at, failing_since: null },
        ...{ gone_since: null, gone_checks: 0, is_held: false },
        ...{ is_noticed: false, noticed_at: null, created_at: at, updated_at: at },
      });
      const keys = addKeys(em, domain, made, at);
      await em.flush();
      await addDomainChecks(em, workspaceId);
      await recordChange(em, call, {
        targetId: name,
        ...differences({}, shownDomain(domain, keys)),
      });
      return {
        domain: domainMessage(domain, keys, installation),
        setupUrl: setupLinks.urlOf(domain),
      };
    });
  };
}

async function checkRoom(
  em: EntityManager,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<void> {
  const [row] = await query<{ count: number; is_there: boolean }>(
    em,
    `select count(*)::int as count, coalesce(bool_or(name = $2), false) as is_there
     from sending_domains where workspace_id = $1`,
    [workspaceId, name],
  );
  if (row?.is_there) throw refusal('ALREADY_EXISTS', 'the workspace has this domain already');
  if ((row?.count ?? 0) >= domainsMax) {
    throw refusal('LIMIT_OF_WORKSPACE', `a workspace has at most ${domainsMax} domains`);
  }
}
