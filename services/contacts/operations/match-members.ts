import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

// One look into the index of contacts for each address; one value, since rows cost the driver more.
const membersSql = `
  select coalesce(json_agg(json_build_object('email', asked.place - 1, 'list', list.place - 1)), '[]') as members
  from unnest($2::text[]) with ordinality as asked (email, place)
  cross join lateral (
    select list_id from memberships
    where workspace_id = $1 and memberships.email = asked.email and deleted_at is null
    offset 0
  ) membership
  join unnest($3::text[]) with ordinality as list (id, place) on list.id = membership.list_id`;

export function matchMembers({ store }: Context): Methods['matchMembers'] {
  return async ({ workspaceId, emails, listIds }) => {
    const values = [workspaceId, emails, listIds];
    const [row] = await query<{ members: { email: number; list: number }[] }>(
      store.fork(),
      membersSql,
      values,
    );
    return { members: row?.members ?? [] };
  };
}
