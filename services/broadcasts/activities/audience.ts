import { heartbeat } from '@temporalio/activity';
import { type EntityManager, query } from '#lib/store.ts';
import type { BroadcastKey } from '../broadcast.ts';
import type { Plan, Schedule, TestSettings } from '../broadcast-settings.ts';
import type { Context } from '../context.ts';
import { momentIn } from '../start-time.ts';

const pageSize = 10_000;
const sliceSizeMax = 5_000;

export type Frozen = Pick<Plan, 'lists' | 'include_unsubscribed' | 'rate_limit_per_minute'> & {
  schedule: Schedule;
  test: TestSettings;
};

/** Copies who gets a broadcast, deals the sample of a test, and cuts all into slices. */
export async function copyAudience(
  context: Context,
  em: EntityManager,
  { key, frozen }: { key: BroadcastKey; frozen: Frozen },
): Promise<{ count: number; sample: number }> {
  const count = await copyPages(context, em, { key, frozen });
  const { schedule, test, lists } = frozen;
  const sample = sampleSize(test, count);
  const isUniform = sample === 0 && lists.length === 1 && !schedule.use_recipient_timezone;
  if (!isUniform) await deal(em, key, { count, sample, arms: test.variations.length });
  await insertSlices(em, key, sliceSize(frozen));
  return { count, sample };
}

/** At most a minute of sending, so that an activity ends and its result is seen. */
function sliceSize({ rate_limit_per_minute: rate }: Frozen): number {
  return Math.max(1, Math.min(sliceSizeMax, rate));
}

function sampleSize({ enabled, sample_percentage }: TestSettings, count: number): number {
  if (!enabled) return 0;
  return Math.min(count, Math.max(1, Math.floor((count * sample_percentage) / 100)));
}

async function copyPages(
  { audience }: Context,
  em: EntityManager,
  { key: { workspaceId, id }, frozen }: { key: BroadcastKey; frozen: Frozen },
): Promise<number> {
  const { lists, include_unsubscribed: includeUnsubscribed, schedule } = frozen;
  const [listId = '', ...furtherListIds] = lists.map((list) => list.id);
  const dueIn = momentIn(schedule);
  let count = 0;
  let afterEmail = '';
  for (;;) {
    const page = await audience.listAudience({
      workspaceId,
      listId,
      furtherListIds,
      includeUnsubscribed,
      afterEmail,
      pageSize,
      withTimezones: schedule.use_recipient_timezone,
    });
    await query(
      em,
      `insert into recipients (workspace_id, broadcast_id, sequence, email, list, due_at)
       select $1, $2, $3::int + ordinality, email, coalesce(list, 0), due_at
       from unnest($4::text[], $5::int[], $6::timestamptz[])
         with ordinality as page (email, list, due_at)`,
      [workspaceId, id, count, page.emails, page.lists, page.timezones.map(dueIn)],
    );
    count += page.emails.length;
    heartbeat({ recipients: count });
    if (page.emails.length < pageSize) return count;
    afterEmail = page.emails.at(-1) ?? '';
  }
}

/**
 * Puts recipients that get the same at the same time side by side, the sample first: dealt to the arms in turn, so
 * that none is more than one larger than another, and sent at once. Who is in it follows from a digest of broadcast
 * and address, so that neither the alphabet nor another broadcast decides.
 */
async function deal(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
  { count, sample, arms }: { count: number; sample: number; arms: number },
): Promise<void> {
  await query(
    em,
    `insert into recipients (workspace_id, broadcast_id, sequence, email, arm, list, due_at)
     select $1, $2, $3::int + row_number() over (order by arm nulls last, due_at nulls first, list, sequence),
       email, arm, list, due_at
     from (
       select sequence, email, list,
         case when dealt <= $4::int then (dealt - 1) % $5::int end as arm,
         case when dealt > $4 then due_at end as due_at
       from (
         select *, row_number() over (order by sha256(convert_to($2 || email, 'UTF8'))) as dealt
         from recipients where workspace_id = $1 and broadcast_id = $2
       ) ranked
     ) given`,
    [workspaceId, id, count, sample, arms],
  );
  await query(
    em,
    'delete from recipients where workspace_id = $1 and broadcast_id = $2 and sequence <= $3',
    [workspaceId, id, count],
  );
}

/** The slices of the arms take turns, so that time favours none. */
async function insertSlices(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
  size: number,
): Promise<void> {
  await query(
    em,
    `with part as (
       select arm, list, due_at, min(sequence) as start, count(*)::int as size
       from recipients where workspace_id = $1 and broadcast_id = $2
       group by arm, list, due_at
     )
     insert into slices (workspace_id, broadcast_id, number, arm, list, due_at, first, last, position)
     select $1, $2,
       row_number() over (order by arm is null, due_at nulls first, turn, arm, list) - 1,
       arm, list, due_at,
       start + turn, least(start + turn + $3, start + size) - 1, start + turn - 1
     from part cross join lateral generate_series(0, size - 1, $3::int) as turn`,
    [workspaceId, id, size],
  );
}
