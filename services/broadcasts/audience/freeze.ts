import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { BroadcastKey } from '../broadcast.ts';
import { momentIn } from '../input/start-time.ts';
import type { Peers } from '../peers.ts';
import { eachPage, type Frozen, type Page } from './pages.ts';

const pageSizeMax = 10_000;
const sliceSizeMax = 5_000;

type Freeze = { key: BroadcastKey; frozen: Frozen };

/** Stores the audience of a broadcast in slices, after it has dealt the sample of a test. */
export async function copyAudience(
  context: Pick<Peers, 'audience'>,
  em: EntityManager,
  freeze: Freeze,
): Promise<{ count: number; sample: number }> {
  const size = sliceSize(freeze.frozen);
  // Each page has whole slices, but for the last one.
  const pageSize = pageSizeMax - (pageSizeMax % size);
  const isDealt = !isUniform(freeze.frozen);
  const keep = isDealt ? pageKeeper(em, freeze) : pageCutter(em, freeze, size);
  const count = await eachPage(context, { ...freeze, pageSize }, keep);
  if (!isDealt) return { count, sample: 0 };
  const sample = sampleSize(freeze.frozen, count);
  await deal(em, freeze, { sample, size });
  return { count, sample };
}

/** At most a minute of sending, so that an activity ends and its result is seen. */
function sliceSize({ rate_limit_per_minute: rate }: Frozen): number {
  return Math.max(1, Math.min(sliceSizeMax, rate));
}

/** True where all recipients get the same content at the same time, so that any slice may contain any of them. */
function isUniform({ test, lists, schedule }: Frozen): boolean {
  return !test.enabled && lists.length === 1 && !schedule.use_recipient_timezone;
}

function sampleSize({ test: { enabled, sample_percentage } }: Frozen, count: number): number {
  if (!enabled) return 0;
  return Math.min(count, Math.max(1, Math.floor((count * sample_percentage) / 100)));
}

/** Cuts each page into slices directly. A page as JSON costs the driver and PostgreSQL half as much as an array. */
function pageCutter(em: EntityManager, { key }: Freeze, size: number) {
  return async ({ emails }: Page, first: number): Promise<void> => {
    await query(
      em,
      `insert into slices (workspace_id, broadcast_id, number, size, emails)
       select $1, $2, $3::int + turn, count(*), array_agg(email order by place)
       from (
         select email, place, (place - 1) / $4::int as turn
         from json_array_elements_text($5::json) with ordinality as page (email, place)
       ) cut
       group by turn`,
      [key.workspaceId, key.id, first / size, size, JSON.stringify(emails)],
    );
  };
}

/** Stores each page until all are read. */
function pageKeeper(em: EntityManager, { key, frozen }: Freeze) {
  const dueIn = momentIn(frozen.schedule);
  return async ({ emails, lists, timezones }: Page, first: number): Promise<void> => {
    await query(
      em,
      `insert into audience_pages (workspace_id, broadcast_id, first, emails, lists, due_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [key.workspaceId, key.id, first, emails, lists, timezones.map(dueIn)],
    );
  };
}

/**
 * Groups recipients that get the same content at the same time, and cuts them into slices. The sample comes first. It
 * is dealt to the arms in turn, so that their sizes differ by at most one, and is sent at once. A digest of broadcast
 * and address selects it, so that it depends on neither the alphabet nor other broadcasts. The slices of the arms
 * alternate, so that time favours none.
 */
async function deal(
  em: EntityManager,
  { key, frozen }: Freeze,
  { sample, size }: { sample: number; size: number },
): Promise<void> {
  await query(
    em,
    `with page as (
       delete from audience_pages where workspace_id = $1 and broadcast_id = $2 returning *
     ), ranked as (
       select email, list, recipient.due_at, first + place as sequence,
         row_number() over (
           -- Without a sample it does not matter, and takes a third of the time.
           order by case when $3::int > 0 then sha256(convert_to($2 || email, 'UTF8')) end
         ) as dealt
       from page cross join lateral
         unnest(emails, lists, page.due_at) with ordinality as recipient (email, list, due_at, place)
     ), given as (
       select email, sequence, coalesce(list, 0) as list,
         case when dealt <= $3 then (dealt - 1) % $4::int end as arm,
         case when dealt > $3 then due_at end as due_at
       from ranked
     ), cut as (
       select *,
         (row_number() over (partition by arm, due_at, list order by sequence) - 1) / $5::int as turn
       from given
     )
     insert into slices (workspace_id, broadcast_id, number, arm, list, due_at, size, emails)
     select $1, $2,
       row_number() over (order by arm is null, due_at nulls first, turn, arm, list) - 1,
       arm, list, due_at, count(*), array_agg(email order by sequence)
     from cut group by arm, due_at, list, turn`,
    [key.workspaceId, key.id, sample, frozen.test.variations.length, size],
  );
}
