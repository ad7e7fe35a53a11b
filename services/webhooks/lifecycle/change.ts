import type { HandlerContext } from '@connectrpc/connect';
import { changeInterests, type Producers } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { interests } from '../interests/interests.ts';
import { hostOf, type Subscription, type SubscriptionKey } from '../subscription.ts';
import { lockSubscription } from '../subscription-queries.ts';
import { addWake } from './wake.ts';

type Needs = {
  store: Store;
  now: () => Date;
  producers: Producers;
  dispatcher: {
    recall(key: SubscriptionKey): Promise<void>;
    /** Resolves once no process begins a callback to the endpoint as it was. */
    end(key: SubscriptionKey): Promise<void>;
  };
};

/**
 * Locks a subscription, changes it, and has the producers of events and its run follow. `call` is
 * recorded with the change.
 */
export async function changeSubscription(
  context: Needs,
  { workspaceId, id }: SubscriptionKey,
  change: (subscription: Subscription) => void,
  call?: Pick<HandlerContext, 'values'>,
): Promise<Subscription> {
  let ends = false;
  const changed = await context.store.fork().transactional((em) =>
    changeInterests(interests, context.producers, { em, workspaceId }, async () => {
      const subscription = await lockSubscription(em, { workspaceId, id });
      const { enabled: wasEnabled, url, sealed_secret } = subscription;
      change(subscription);
      ends = wasEnabled && !isSameEndpoint(subscription, { url, sealed_secret });
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
  await context.dispatcher[ends ? 'end' : 'recall']({ workspaceId, id });
  return changed;
}

/** Whether callbacks may still begin as before. */
function isSameEndpoint(
  { enabled, url, sealed_secret }: Subscription,
  before: Pick<Subscription, 'url' | 'sealed_secret'>,
): boolean {
  return enabled && url === before.url && sealed_secret === before.sealed_secret;
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
