import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

// One look into the index of contacts for each address and table; one value, since rows cost the
// driver more.
const membersSql = `
  select coalesce(json_agg(json_build_object('email', asked.place - 1, 'list', list.place - 1)), '[]') as members,
    (
      select coalesce(json_agg(json_build_object('email', asked.place - 1, 'segment', segment.place - 1)), '[]')
      from unnest($2::text[]) with ordinality as asked (email, place)
      cross join lateral (
        select segment_id from segment_members
        where workspace_id = $1 and segment_members.email = asked.email
        offset 0
      ) member
      join unnest($4::text[]) with ordinality as segment (id, place) on segment.id = member.segment_id
    ) as "segmentMembers"
  from unnest($2::text[]) with ordinality as asked (email, place)
  cross join lateral (
    select list_id from memberships
    where workspace_id = $1 and memberships.email = asked.email and deleted_at is null
    offset 0
  ) membership
  join unnest($3::text[]) with ordinality as list (id, place) on list.id = membership.list_id`;

type MatchesRow = {
  members: { email: number; list: number }[];
  segmentMembers: { email: number; segment: number }[];
};

export function matchMembers({ store }: Context): Methods['matchMembers'] {
  return async ({ workspaceId, emails, listIds, segmentIds }) => {
    const values = [workspaceId, emails, listIds, segmentIds];
    const [row] = await query<MatchesRow>(store.fork(), membersSql, values);
    return row ?? {};
  };
}
