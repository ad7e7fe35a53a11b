import { changeMemberships } from '../consent/membership-queries.ts';
import type { Context, Methods } from '../context.ts';

export function confirmSubscription({
  store,
  outbox,
  now,
}: Context): Methods['confirmSubscription'] {
  return async ({ workspaceId, email, listId }) => {
    const change = { cause: 'confirm', targets: [{ email, listId }], at: now() } as const;
    await store
      .fork()
      .transactional((em) => changeMemberships({ em, outbox, workspaceId }, change));
    return {};
  };
}
