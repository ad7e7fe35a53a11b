import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import type { Plan } from '../broadcast/row.ts';
import { momentIn } from '../input/start-time.ts';
import { type RecipientPage, sliceSize } from './pages.ts';

/** A statement cuts so many recipients, and at most one page more. */
const cutMax = 10_000;

/**
 * Divides a page into parts: recipients that get the same content at the same time. So many of them
 * as `sample` says belong to the sample of a test, which is sent at once and dealt to the arms in
 * turn, so that their sizes differ by at most one. A digest of broadcast and address selects them,
 * so that it depends on neither the alphabet nor other broadcasts.
 */
export async function dealPage(
  em: EntityManager,
  row: Broadcast,
  { emails, lists, timezones }: RecipientPage,
  sample: number,
): Promise<void> {
  const { workspace_id, id, enqueued_count: first, test_phase_recipient_count: dealt } = row;
  const arms = row.test_settings.variations.length;
  const times = timezones.map(momentIn(row.schedule));
  await query(
    em,
    `with recipient as (
       select email, coalesce(list::int, 0) as list, due_at::timestamptz, place
       from rows from (
         json_array_elements_text($3), json_array_elements_text($4), json_array_elements_text($5)
       ) with ordinality as page (email, list, due_at, place)
     ), ranked as (
       select *, row_number() over (
         -- Without a sample it does not matter, and takes a third of the time.
         order by case when $6::int > 0 then sha256(convert_to($2 || email, 'UTF8')) end
       ) as rank
       from recipient
     ), given as (
       select email, place, list,
         case when rank <= $6 then ($7::int + rank - 1) % $8::int else -1 end as arm,
         case when rank > $6 then due_at end as due_at
       from ranked
     )
     insert into audience_parts
       (workspace_id, broadcast_id, arm, due_at, list, first, size, emails)
     select $1, $2, arm, coalesce(due_at, '-infinity'), list, $9,
       count(*), array_agg(email order by place)
     from given group by arm, due_at, list`,
    [
      ...[workspace_id, id],
      ...[emails, lists, times].map((values) => JSON.stringify(values)),
      ...[sample, dealt, arms, first],
    ],
  );
}

/**
 * Cuts the next parts into slices: whole ones, but for the last of each group. Parts of a group
 * whose end is not read yet keep what would not fill a slice. Returns false once no part is left.
 */
export async function cutParts(
  em: EntityManager,
  { workspace_id, id }: Broadcast,
  plan: Plan,
): Promise<boolean> {
  const key = [workspace_id, id];
  await query(
    em,
    `with front as (
       select *, sum(size) over (order by arm, due_at, list, first) - size as ahead
       from (
         select ctid as at, arm, due_at, list, first, size, emails from audience_parts
         where workspace_id = $1 and broadcast_id = $2
         order by arm, due_at, list, first limit $4::int + 1
       ) part
     ), next as (
       select arm, due_at, list from front where ahead >= $4 order by ahead limit 1
     ), taken as (
       select *,
         sum(size) over (partition by arm, due_at, list order by first) - size as before,
         sum(size) over (partition by arm, due_at, list) as total,
         (arm, due_at, list) in (select arm, due_at, list from next) as goes_on
       from front where ahead < $4
     ), used as (
       select *, greatest(0, least(size,
         case when goes_on then total - total % $3::int else total end - before)) as count
       from taken
     ), emptied as (
       -- By ctid: joined by key, all parts would be compared. The lock of the row keeps it valid.
       delete from audience_parts where ctid = any (array(select at from used where count = size))
     ), shortened as (
       update audience_parts part
       set size = part.size - used.count, emails = part.emails[used.count + 1:]
       from used where part.ctid = used.at and used.count between 1 and used.size - 1
     ), cut as (
       select arm, due_at, list, before + place as place, (before + place - 1)::int / $3 as turn, email
       from used cross join lateral unnest(emails[:count]) with ordinality as recipient (email, place)
     )
     insert into slices (workspace_id, broadcast_id, number, arm, list, due_at, size, emails)
     select $1, $2,
       (select coalesce(max(number), -1) from slices where workspace_id = $1 and broadcast_id = $2)
         + row_number() over (order by arm, due_at, list, turn),
       nullif(arm, -1), list, nullif(due_at, '-infinity'), count(*), array_agg(email order by place)
     from cut group by arm, due_at, list, turn`,
    [...key, sliceSize(plan), cutMax],
  );
  const left = await query(
    em,
    'select from audience_parts where workspace_id = $1 and broadcast_id = $2 limit 1',
    key,
  );
  return left.length > 0;
}
