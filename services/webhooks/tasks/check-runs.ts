import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { addWake } from '../lifecycle/wake.ts';
import { hostOf } from '../subscription.ts';

const rowsMax = 1_000;
/** A run looks on time; if it is this late, there is none. */
const lateMs = 60_000;
/** The attempt that was open has ended, or its process is dead. */
const overdueMs = 5_000;

const at = 'coalesce($1::timestamptz, now())';

type SubscriptionRow = { workspace_id: string; id: string; url: string };

/**
 * Wakes the runs of subscriptions whose retries are due and have no run that looks at them: one
 * that was terminated, or retries that a killed process has left.
 */
export function checkRuns({ store, databaseTime }: Pick<Context, 'store' | 'databaseTime'>) {
  return (): Promise<void> =>
    store.fork().transactional(async (em) => {
      for (const found of await unattended(em, databaseTime())) {
        const key = { workspaceId: found.workspace_id, id: found.id };
        await addWake(em, { key, host: hostOf(found) });
      }
    });
}

/** Jumps from subscription to subscription through the index of retries. */
function unattended(em: EntityManager, now: Date | undefined): Promise<SubscriptionRow[]> {
  return query<SubscriptionRow>(
    em,
    `with recursive waiting as (
       (select workspace_id, subscription_id from deliveries
        where status = 'pending' and attempts > 0
        order by workspace_id, subscription_id limit 1)
       union all
       (select next.workspace_id, next.subscription_id from waiting cross join lateral (
          select workspace_id, subscription_id from deliveries
          where status = 'pending' and attempts > 0
            and (workspace_id, subscription_id) > (waiting.workspace_id, waiting.subscription_id)
          order by workspace_id, subscription_id limit 1
        ) next)
     )
     update subscriptions set next_wake_at = ${at}
     where (workspace_id, id) in (
       select subscription.workspace_id, subscription.id from waiting
       join subscriptions subscription
         on (subscription.workspace_id, subscription.id) = (waiting.workspace_id, waiting.subscription_id)
       cross join lateral (
         select min(next_attempt_at) as due_at from deliveries
         where workspace_id = waiting.workspace_id and subscription_id = waiting.subscription_id
           and status = 'pending' and attempts > 0
       ) retry
       where subscription.enabled and retry.due_at < ${at} - interval '${overdueMs} milliseconds'
         and (subscription.next_wake_at is null or subscription.next_wake_at < ${at} - interval '${lateMs} milliseconds')
       limit ${rowsMax}
       for update of subscription skip locked
     )
     returning workspace_id, id, url`,
    [now?.toISOString() ?? null],
  );
}
