import { query } from '#lib/postgres/query.ts';
import { requireAudience, statusesOf } from '../audience/request.ts';
import { requireSegments } from '../audience/segments.ts';
import type { Context, Methods } from '../context.ts';
import { findList } from '../list-queries.ts';

const inSegment = (email: string) => `exists (
    select from segment_members in_segment
    where in_segment.workspace_id = $1 and in_segment.segment_id = any($3::text[]) and in_segment.email = ${email}
  )`;

/** Of one list nobody is counted twice, which saves a sort. */
const membersSql = (lists: number) => `
  select count(${lists > 1 ? 'distinct member.email' : '*'})::int as count from memberships member
  where member.workspace_id = $1 and member.list_id = any($2::text[]) and member.status = any($4::text[])
    and member.deleted_at is null and ($3::text[] = '{}' or ${inSegment('member.email')})`;

const contactsSql = `
  select count(*)::int as count from (
    select distinct email from segment_members
    where workspace_id = $1 and segment_id = any($2::text[])
  ) member
  where not exists (
    select from memberships left_list
    where left_list.workspace_id = $1 and left_list.email = member.email
      and left_list.status in ('bounced', 'complained', 'unsubscribed')
  ) and not exists (
    select from opt_outs where opt_outs.workspace_id = $1 and opt_outs.email = member.email
  )`;

export function countAudience({ store }: Context): Methods['countAudience'] {
  return async (request) => {
    const { workspaceId, listIds, segmentIds } = request;
    requireAudience(request);
    await Promise.all([
      requireSegments(store.fork(), workspaceId, segmentIds),
      ...listIds.map((id) => findList(store.fork(), { workspaceId, id })),
    ]);
    const em = store.fork();
    const [row] =
      listIds.length > 0
        ? await query<{ count: number }>(em, membersSql(listIds.length), [
            ...[workspaceId, listIds, segmentIds],
            statusesOf(request),
          ])
        : await query<{ count: number }>(em, contactsSql, [workspaceId, segmentIds]);
    return { count: row?.count ?? 0 };
  };
}
