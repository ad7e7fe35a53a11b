import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

const ownersMax = 100;

/** The people who own a workspace, for mails about trouble; the first members first. */
export function findOwners(
  em: EntityManager,
  workspaceId: string,
): Promise<{ email: string; language: string }[]> {
  return query(
    em,
    `select users.email, users.language from members join users on users.id = members.user_id
     where members.workspace_id = $1 and members.role = 'owner' and users.type = 'user'
     order by members.created_at, users.email limit ${ownersMax}`,
    [workspaceId],
  );
}
