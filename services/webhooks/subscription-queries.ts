import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Subscription, type SubscriptionKey, subscriptionNotFound } from './subscription.ts';

export function findSubscription(
  em: EntityManager,
  { workspaceId, id }: SubscriptionKey,
): Promise<Subscription> {
  return em.findOneOrFail(
    Subscription,
    { workspace_id: workspaceId, id },
    { failHandler: subscriptionNotFound },
  );
}

/** Results of callbacks wait for the lock, so the row stays as it was read. */
export function lockSubscription(
  em: EntityManager,
  { workspaceId, id }: SubscriptionKey,
): Promise<Subscription> {
  return em.findOneOrFail(
    Subscription,
    { workspace_id: workspaceId, id },
    { lockMode: LockMode.PESSIMISTIC_WRITE, failHandler: subscriptionNotFound },
  );
}
