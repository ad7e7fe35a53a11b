import type { HandlerContext } from '@connectrpc/connect';
import { changeInterests } from '#lib/jobs/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import type { Context } from '../context.ts';
import { interests } from '../interests/interests.ts';
import { hostOf, type Subscription, type SubscriptionKey } from '../subscription.ts';
import { lockSubscription } from '../subscription-queries.ts';
import { addWake } from './wake.ts';

/** Locks a subscription, changes it, and has the producers of events and its run follow. `call` is recorded with the change. */
export async function changeSubscription(
  context: Context,
  { workspaceId, id }: SubscriptionKey,
  change: (subscription: Subscription) => void,
  call?: Pick<HandlerContext, 'values'>,
): Promise<Subscription> {
  const changed = await context.store.fork().transactional((em) =>
    changeInterests(interests, context.producers, { em, workspaceId }, async () => {
      const subscription = await lockSubscription(em, { workspaceId, id });
      const wasEnabled = subscription.enabled;
      change(subscription);
      subscription.updated_at = context.now();
      const resumes = subscription.enabled && !wasEnabled;
      if (resumes && (await hasRetries(em, subscription))) {
        subscription.next_wake_at = context.now();
      }
      await em.flush();
      if (subscription.next_wake_at) {
        await addWake(em, { key: { workspaceId, id }, host: hostOf(subscription) });
      }
      if (call) await recordChange(em, call);
      return subscription;
    }),
  );
  await context.dispatcher.recall({ workspaceId, id });
  return changed;
}

async function hasRetries(em: EntityManager, { workspace_id, id }: Subscription): Promise<boolean> {
  const [row] = await query<{ found: boolean }>(
    em,
    `select exists (
       select from deliveries
       where workspace_id = $1 and subscription_id = $2 and status = 'pending' and attempts > 0
     ) as found`,
    [workspace_id, id],
  );
  return row?.found ?? false;
}
