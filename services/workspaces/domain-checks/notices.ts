import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/** A zone whose records come and go makes a mail and its end in this time, and no more. */
const againMinutes = 60;

export type DomainNotice = {
  workspaceId: string;
  /** Domains by name. */
  broken: string[];
  healed: string[];
  noticedAt: string;
};

/** Has the owners mailed of the domains that broke or healed since the last mail about them. */
export async function noticeChanges(
  em: EntityManager,
  workspaceId: string,
  at: Date,
): Promise<void> {
  const changed = await query<{ name: string; is_noticed: boolean }>(
    em,
    `update sending_domains set is_noticed = not is_noticed, noticed_at = $2
     from domain_owners
     where sending_domains.workspace_id = $1
       and domain_owners.name = sending_domains.name and domain_owners.workspace_id = $1
       and is_noticed = (failing_since is null)
       and (is_noticed or noticed_at is null
         or noticed_at <= $2::timestamptz - interval '${againMinutes} minutes')
     returning sending_domains.name, is_noticed`,
    [workspaceId, at],
  );
  if (changed.length === 0) return;
  const namesOf = (isNoticed: boolean) =>
    changed.flatMap(({ name, is_noticed }) => (is_noticed === isNoticed ? [name] : [])).toSorted();
  const payload: DomainNotice = {
    ...{ workspaceId, broken: namesOf(true), healed: namesOf(false) },
    noticedAt: at.toISOString(),
  };
  await addJob(em, 'workspaces', { task: 'sendDomainNotice', payload });
}
