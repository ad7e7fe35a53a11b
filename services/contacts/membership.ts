import { type EntityManager, query } from '#lib/store.ts';

export const statuses = ['active', 'pending', 'unsubscribed', 'bounced', 'complained'] as const;
export type Status = (typeof statuses)[number];

/** Why a membership changes. */
export type Cause = 'import' | 'unsubscribe' | 'bounce' | 'complaint';

/** Which status follows which. What is not named stays: nothing lifts a bounce or a complaint. */
const moves: Record<Cause, Partial<Record<Status, Status>>> = {
  import: { active: 'active', pending: 'active' },
  unsubscribe: { active: 'unsubscribed', pending: 'unsubscribed' },
  bounce: { active: 'bounced', pending: 'bounced', unsubscribed: 'bounced' },
  complaint: {
    active: 'complained',
    pending: 'complained',
    unsubscribed: 'complained',
    bounced: 'complained',
  },
};

/** The status of a membership after a cause. */
export function statusAfter(status: Status, cause: Cause): Status {
  return moves[cause][status] ?? status;
}

/** The same rule in SQL. */
function statusAfterSql(column: string, cause: Cause): string {
  const branches = statuses.map(
    (status) => `when '${status}' then '${statusAfter(status, cause)}'`,
  );
  return `case ${column} ${branches.join(' ')} end`;
}

/**
 * Makes contacts active members of lists, where their status allows. A removed member comes back
 * under the same rule. Rows are taken in the order of the key, so that parallel calls can't deadlock.
 */
export async function subscribe(
  em: EntityManager,
  workspaceId: string,
  { emails, listIds, at }: { emails: readonly string[]; listIds: readonly string[]; at: Date },
): Promise<void> {
  await query(
    em,
    `insert into memberships (workspace_id, list_id, email, status, created_at, updated_at)
     select $1, list_id, email, 'active', $4, $4
     from unnest($2::text[]) as list_id, json_array_elements_text($3::json) as email
     order by list_id collate "C", email collate "C"
     on conflict (workspace_id, list_id, email) do update
       set status = 'active', updated_at = excluded.updated_at, deleted_at = null
       where ${statusAfterSql('memberships.status', 'import')} = 'active'
         and (memberships.status <> 'active' or memberships.deleted_at is not null)`,
    [workspaceId, listIds, JSON.stringify(emails), at],
  );
}

/** An empty list id means every list. */
export type Target = { email: string; listId: string };

/** Changes memberships for one cause. Removed ones follow, so that a return can't lift a status. */
export async function changeMemberships(
  em: EntityManager,
  workspaceId: string,
  { cause, targets, at }: { cause: Cause; targets: readonly Target[]; at: Date },
): Promise<void> {
  const after = statusAfterSql('memberships.status', cause);
  await query(
    em,
    `with affected as (
       select list_id, email from memberships
       where workspace_id = $1
         and email = any($2::text[])
         and exists (
           select from unnest($2::text[], $3::text[]) as target (email, list_id)
           where target.email = memberships.email and target.list_id in ('', memberships.list_id)
         )
         and status <> ${after}
       order by list_id collate "C", email
       for update
     )
     update memberships set status = ${after}, updated_at = $4
     from affected
     where memberships.workspace_id = $1
       and memberships.list_id = affected.list_id
       and memberships.email = affected.email`,
    [workspaceId, targets.map(({ email }) => email), targets.map(({ listId }) => listId), at],
  );
}
