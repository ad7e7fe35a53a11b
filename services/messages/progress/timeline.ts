import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { isKnownReceiver, receiverOfAddressSql } from '../receivers/table.ts';
import { awaitedSql } from '../receivers/words.ts';

/** Times are in seconds since 1970. */
export type Stretch = { workspaceId: string; broadcastId: string; since: number; until: number };

const facts = ['sent', 'opened', 'delivered', 'returned', 'complained'] as const;
type Fact = (typeof facts)[number];

/** Counts in intervals of `step` seconds from `since` on; empty if nothing happened. */
export type Timeline = {
  since: number;
  step: number;
  bounces: ClassCount[];
  waiting: ReceiverWait[];
  receivers: ReceiverOutcomes[];
} & Record<Fact, number[]>;

type ClassCount = { class: string; count: number };
type ReceiverOutcomes = { receiver: string } & Record<
  'sent' | 'delivered' | 'returned' | 'complained',
  number
>;
type ReceiverWait = { receiver: string; count: number };

const bucketsMax = 200;
/**
 * Times are counted by steps this fine first, since the first and the last are known only when all
 * are read.
 */
const stepsMax = 100_000;
const statementMaxMs = 5_000;

type BucketRow = { first: number; width: number; bucket: number } & Record<Fact, number>;

const columns = {
  ...{ sent: 'sent_at', opened: 'opened_at', delivered: 'delivered_at' },
  ...{ returned: 'coalesce(bounced_at, soft_bounced_at)', complained: 'complained_at' },
} satisfies Record<Fact, string>;
const listOf = (write: (fact: Fact) => string) => facts.map(write).join(', ');

/** One pass over the messages of the broadcast, in their index. */
export const timelineSql = `
  select first, width, (step - first) / width as bucket, ${listOf((fact) => `sum(${fact})::int as ${fact}`)}
  from (
    select *, min(step) over () as first,
      (max(step) over () - min(step) over ()) / ${bucketsMax} + 1 as width
    from (
      select floor((date_part('epoch', at) - $3::float8) / $5::float8)::int as step,
        ${listOf((fact) => `count(*) filter (where name = '${fact}')::int as ${fact}`)}
      from messages cross join lateral (
        values ${listOf((fact) => `(${columns[fact]}, '${fact}')`)}
      ) as fact (at, name)
      where workspace_id = $1 and broadcast_id = $2 and not by_hand
        and at >= to_timestamp($3::float8) and at < to_timestamp($4::float8)
      group by 1
    ) fine
  ) placed
  group by 1, 2, 3
  order by 3`;

const bouncesSql = `
  select bounce_class as class, count(*)::int as count from messages
  where workspace_id = $1 and broadcast_id = $2 and not by_hand and bounce_class is not null
  group by 1 order by 2 desc, 1`;

const receiversSql = `
  select ${receiverOfAddressSql('contact_email')} as receiver, count(sent_at)::int as sent,
    count(delivered_at)::int as delivered, count(coalesce(bounced_at, soft_bounced_at))::int as returned,
    count(complained_at)::int as complained
  from messages where workspace_id = $1 and broadcast_id = $2 and not by_hand
  group by 1 order by 2 desc, 1`;

/** Reads the messages only where the workspace has paced any lately. */
const waitingSql = `
  select ${awaitedSql} as receiver, count(*)::int as count from messages
  where workspace_id = $1 and broadcast_id = $2 and not by_hand and status = 'deferred'
    and ${awaitedSql} is not null
    and (
      exists (select from receiver_rates where workspace_id = $1 and updated_at > now() - interval '1 day')
      or exists (select from receiver_pauses where workspace_id = $1)
    )
  group by 1`;

export function timelineValues({ workspaceId, broadcastId, since, until }: Stretch): unknown[] {
  return [workspaceId, broadcastId, since, until, fineStep(since, until)];
}

const fineStep = (since: number, until: number) =>
  Math.max(1, Math.ceil((until - since) / stepsMax));

/** Uses one core at most, and not for long: sending comes first. */
export async function readTimeline(store: Store, stretch: Stretch): Promise<Timeline> {
  const { workspaceId, broadcastId } = stretch;
  const { rows, bounces, waiting, receivers } = await store.fork().transactional(async (em) => {
    await query(
      em,
      `select set_config('statement_timeout', '${statementMaxMs}', true), set_config('jit', 'off', true),
         set_config('max_parallel_workers_per_gather', '0', true)`,
      [],
    );
    const rows = await query<BucketRow>(em, timelineSql, timelineValues(stretch));
    const bounces = rows.some(({ returned }) => returned > 0)
      ? await query<ClassCount>(em, bouncesSql, [workspaceId, broadcastId])
      : [];
    const isReported = rows.some((row) => row.returned + row.delivered + row.complained > 0);
    const receivers = isReported
      ? await query<ReceiverOutcomes>(em, receiversSql, [workspaceId, broadcastId])
      : [];
    const waiting = await query<ReceiverWait>(em, waitingSql, [workspaceId, broadcastId]);
    return { rows, bounces, waiting, receivers };
  });
  const step = fineStep(stretch.since, stretch.until);
  const [start] = rows;
  const first = (start?.first ?? 0) * step;
  const byBucket = new Map(rows.map((row) => [row.bucket, row]));
  const length = rows.length === 0 ? 0 : Math.max(...byBucket.keys()) + 1;
  const countsOf = (fact: Fact) => Array.from({ length }, (_, at) => byBucket.get(at)?.[fact] ?? 0);
  const counts = Object.fromEntries(facts.map((fact) => [fact, countsOf(fact)]));
  return {
    ...(counts as Record<Fact, number[]>),
    since: stretch.since + first,
    step: (start?.width ?? 1) * step,
    bounces,
    receivers,
    waiting: byKnownReceiver(waiting),
  };
}

/** Groups without a name of ours are named by hosts of recipients, and could be any number. */
function byKnownReceiver(waiting: readonly ReceiverWait[]): ReceiverWait[] {
  const counts = new Map<string, number>();
  for (const { receiver: named, count } of waiting) {
    const receiver = isKnownReceiver(named) ? named : 'other';
    counts.set(receiver, (counts.get(receiver) ?? 0) + count);
  }
  const all = [...counts].map(([receiver, count]) => ({ receiver, count }));
  return all.toSorted((one, other) => other.count - one.count);
}
