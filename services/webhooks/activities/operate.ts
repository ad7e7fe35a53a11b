import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { changeSubscription } from '../lifecycle/change.ts';
import { type SubscriptionKey, statusOf } from '../subscription.ts';
import { lockSubscription } from '../subscription-queries.ts';

export type SubscriptionAction = 'retryNow' | 'disable' | 'enable';

/** The most retries that one update brings forward; the rest stay due when they are. */
const broughtForwardMax = 10_000;

/** An operator's update in the Temporal UI. Answers the status of the subscription. */
export function operate(context: Context) {
  return async (key: SubscriptionKey, action: SubscriptionAction): Promise<string> => {
    if (action === 'retryNow') return retryNow(context, key);
    const changed = await changeSubscription(context, key, (subscription) =>
      subscription.setEnabled(action === 'enable'),
    );
    return statusOf(changed);
  };
}

const at = 'coalesce($3::timestamptz, now())';

/** All retries are due now, and an open circuit lets one of them through at once. */
function retryNow({ store, now, databaseTime }: Context, key: SubscriptionKey): Promise<string> {
  return store.fork().transactional(async (em) => {
    const subscription = await lockSubscription(em, key);
    if (subscription.probe_at) subscription.probe_at = now();
    await em.flush();
    await bringForward(em, key, databaseTime());
    return statusOf(subscription);
  });
}

async function bringForward(
  em: EntityManager,
  { workspaceId, id }: SubscriptionKey,
  now: Date | undefined,
) {
  await query(
    em,
    `update deliveries set next_attempt_at = ${at} where workspace_id = $1 and id in (
       select id from deliveries
       where workspace_id = $1 and subscription_id = $2 and status = 'pending' and attempts > 0
         -- Attempts that are open now stay claimed.
         and next_attempt_at > ${at} and last_attempt_at < ${at} - interval '30 seconds'
       order by next_attempt_at limit ${broughtForwardMax} for update skip locked
     )`,
    [workspaceId, id, now?.toISOString() ?? null],
  );
}
