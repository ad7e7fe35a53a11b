import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/** Times are in seconds since 1970. */
export type Stretch = { workspaceId: string; broadcastId: string; since: number; until: number };

/** Counts in intervals of `step` seconds from `since` on; empty if nothing happened. */
export type Timeline = { since: number; step: number; sent: number[]; opened: number[] };

const bucketsMax = 200;
/**
 * Times are counted by steps this fine first, since the first and the last are known only when all
 * are read.
 */
const stepsMax = 100_000;
const statementMaxMs = 5_000;

type BucketRow = { first: number; width: number; bucket: number; sent: number; opened: number };

/** One pass over the messages of the broadcast, in their index. */
export const timelineSql = `
  select first, width, (step - first) / width as bucket, sum(sent)::int as sent, sum(opened)::int as opened
  from (
    select *, min(step) over () as first,
      (max(step) over () - min(step) over ()) / ${bucketsMax} + 1 as width
    from (
      select floor((date_part('epoch', at) - $3::float8) / $5::float8)::int as step,
        count(*) filter (where is_sent)::int as sent, count(*) filter (where not is_sent)::int as opened
      from messages cross join lateral (values (sent_at, true), (opened_at, false)) as fact (at, is_sent)
      where workspace_id = $1 and broadcast_id = $2 and not by_hand
        and at >= to_timestamp($3::float8) and at < to_timestamp($4::float8)
      group by 1
    ) fine
  ) placed
  group by 1, 2, 3
  order by 3`;

export function timelineValues({ workspaceId, broadcastId, since, until }: Stretch): unknown[] {
  return [workspaceId, broadcastId, since, until, fineStep(since, until)];
}

const fineStep = (since: number, until: number) =>
  Math.max(1, Math.ceil((until - since) / stepsMax));

/** Uses one core at most, and not for long: sending comes first. */
export async function readTimeline(store: Store, stretch: Stretch): Promise<Timeline> {
  const rows = await store.fork().transactional(async (em) => {
    await query(
      em,
      `select set_config('statement_timeout', '${statementMaxMs}', true), set_config('jit', 'off', true),
         set_config('max_parallel_workers_per_gather', '0', true)`,
      [],
    );
    return query<BucketRow>(em, timelineSql, timelineValues(stretch));
  });
  const step = fineStep(stretch.since, stretch.until);
  const [start] = rows;
  if (!start) return { since: stretch.since, step, sent: [], opened: [] };
  const { first, width } = start;
  const byBucket = new Map(rows.map((row) => [row.bucket, row]));
  const buckets = Array.from({ length: Math.max(...byBucket.keys()) + 1 }, (_, at) => at);
  return {
    since: stretch.since + first * step,
    step: width * step,
    sent: buckets.map((at) => byBucket.get(at)?.sent ?? 0),
    opened: buckets.map((at) => byBucket.get(at)?.opened ?? 0),
  };
}
