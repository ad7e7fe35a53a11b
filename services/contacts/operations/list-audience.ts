import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { findList } from '../list-queries.ts';

type Page = { emails: string[]; lists: number[]; timezones: string[] };

// The page is one value: rows cost the driver more than the addresses in them. Up to a page of each list is read in the
// order of its index, which is enough for the first page of all lists together.
const pageSql = `
  select json_build_object(
    'emails', coalesce(json_agg(email), '[]'),
    'lists', case when cardinality($2::text[]) > 1 then json_agg(place - 1) end,
    'timezones', case when $6 then json_agg(timezone) end
  )::text as page
  from (
    select distinct on (member.email) member.email, place,
      case when $6 then coalesce(
        (select c.timezone from contacts c where c.workspace_id = $1 and c.email = member.email), ''
      ) end as timezone
    from unnest($2::text[]) with ordinality as asked (list_id, place)
    cross join lateral (
      select email from memberships
      where workspace_id = $1 and list_id = asked.list_id and email > $3
        and status = any($4::text[]) and deleted_at is null
      order by email
      limit $5
    ) member
    order by member.email, place
    limit $5
  ) found`;

export function listAudience({ store }: Context): Methods['listAudience'] {
  return async ({ workspaceId, listId, furtherListIds, ...asked }) => {
    const { includeUnsubscribed, afterEmail, pageSize, withTimezones } = asked;
    const listIds = [listId, ...furtherListIds];
    const statuses = includeUnsubscribed ? ['active', 'unsubscribed'] : ['active'];
    const values = [workspaceId, listIds, afterEmail, statuses, pageSize, withTimezones];
    const [[row]] = await Promise.all([
      query<{ page: string }>(store.fork(), pageSql, values),
      ...listIds.map((id) => findList(store.fork(), { workspaceId, id })),
    ]);
    const { emails, lists, timezones }: Partial<Page> = JSON.parse(row?.page ?? '{}');
    return { emails: emails ?? [], lists: lists ?? [], timezones: timezones ?? [] };
  };
}
