import type { ConnectError } from '@connectrpc/connect';
import { LockMode } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';
import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Domain, DomainKey, domainsMax } from './domain.ts';
import { canonicalHost } from './name.ts';

export function domainNotFound(): ConnectError {
  return refusal('DOMAIN_NOT_FOUND', 'Domain not found');
}

/** The domain of a call, by any form of its name. */
export async function findDomain(
  em: EntityManager,
  workspaceId: string,
  given: string,
): Promise<Domain> {
  const key = { workspace_id: workspaceId, name: canonicalHost(given) ?? '' };
  return em.findOneOrFail(Domain, key, { failHandler: domainNotFound });
}

/** The domain of a link; not a later one of the same name. */
export async function findLinked(
  em: EntityManager,
  { workspaceId, name, id }: { workspaceId: string; name: string; id: string },
): Promise<Domain> {
  const domain = await findDomain(em, workspaceId, name);
  if (domain.id !== id) throw domainNotFound();
  return domain;
}

/** Locked, with its keys. */
export async function lockDomainOf(
  em: EntityManager,
  workspaceId: string,
  given: string,
): Promise<{ domain: Domain; keys: DomainKey[] }> {
  const domain = await lockDomain(em, workspaceId, canonicalHost(given) ?? '');
  if (!domain) throw domainNotFound();
  return { domain, keys: await findKeys(em, [domain]) };
}

export function lockDomain(
  em: EntityManager,
  workspaceId: string,
  name: string,
): Promise<Domain | null> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
  return em.findOne(Domain, { workspace_id: workspaceId, name }, lock);
}

/** By name. */
export function findDomains(em: EntityManager, workspaceId: string): Promise<Domain[]> {
  return em.find(
    Domain,
    { workspace_id: workspaceId },
    { orderBy: { name: 'asc' }, limit: domainsMax },
  );
}

/** Of domains of one workspace, the oldest first. */
export async function findKeys(
  em: EntityManager,
  domains: readonly Domain[],
): Promise<DomainKey[]> {
  const [first] = domains;
  if (!first) return [];
  return em.find(
    DomainKey,
    { workspace_id: first.workspace_id, domain: { $in: domains.map(({ name }) => name) } },
    { orderBy: { created_at: 'asc', selector: 'asc' } },
  );
}

/** The workspace that has proven a domain. */
export async function findOwner(em: EntityManager, name: string): Promise<string | undefined> {
  const [row] = await query<{ workspace_id: string }>(
    em,
    'select workspace_id from domain_owners where name = $1',
    [name],
  );
  return row?.workspace_id;
}

/**
 * Queues the next round of checks of a workspace, when the first of its domains is due; one that
 * waits already is moved. Rounds of a workspace run one after the other.
 */
export async function addDomainChecks(em: EntityManager, workspaceId: string): Promise<void> {
  const [row] = await query<{ next: string | null }>(
    em,
    'select min(next_check_at) as next from sending_domains where workspace_id = $1',
    [workspaceId],
  );
  if (!row?.next) return;
  const queue = `checkDomains ${workspaceId}`;
  await addJob(em, 'workspaces', {
    ...{ task: 'checkDomains', payload: { workspaceId }, key: queue, queue },
    runAt: new Date(row.next),
  });
}
