import type { ReportUsage } from '#lib/limits/share-usage.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

const forgottenAfter = '1 minute';
// More than one report adds, so that keys that are never used again are deleted as well.
const sweptMax = 1_000;

/** The counts of all processes, in a table, so that replicas of this service share them as well. */
export function createReportUsage(store: Store): ReportUsage {
  return async (usage) => {
    const keys = usage.map(({ key }) => key);
    const rows = await query<{ total: string }>(
      store.fork(),
      // Written in the order of keys, so that reports that share keys cannot deadlock.
      `with reported as (
         insert into request_usage (key, total, reported_at)
         select key, sum(count), now() from unnest($1::text[], $2::bigint[]) as usage (key, count)
         group by key
         order by key
         on conflict (key) do update
         set total = request_usage.total + excluded.total, reported_at = excluded.reported_at
         returning key, total
       )
       select reported.total
       from unnest($1::text[]) with ordinality as asked (key, place)
       join reported on reported.key = asked.key
       order by place`,
      [keys, usage.map(({ count }) => count)],
    );
    await deleteOldUsage(store);
    return rows.map(({ total }) => BigInt(total));
  };
}

async function deleteOldUsage(store: Store): Promise<void> {
  await query(
    store.fork(),
    `delete from request_usage where ctid = any(array(
       select ctid from request_usage where reported_at < now() - interval '${forgottenAfter}'
       order by reported_at limit ${sweptMax}
       for update skip locked
     ))`,
    [],
  );
}
