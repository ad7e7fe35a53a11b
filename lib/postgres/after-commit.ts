import type { EventSubscriber } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';

type Action = () => void;

const waiting = new WeakMap<object, Action[]>();

/**
 * Does something once what was written is committed: at once outside of a transaction, never if the
 * transaction is undone.
 */
export function afterCommit(em: EntityManager, action: Action): void {
  if (!em.isInTransaction()) {
    action();
    return;
  }
  const actions = waiting.get(em) ?? [];
  actions.push(action);
  waiting.set(em, actions);
}

/** Part of every store. */
export const actAfterCommit: EventSubscriber = {
  async afterTransactionCommit({ em }) {
    const actions = waiting.get(em) ?? [];
    waiting.delete(em);
    for (const action of actions) action();
  },
};
