import { changeMemberships } from '../consent/membership-queries.ts';
import { liftOptOuts } from '../consent/opt-outs.ts';
import type { Context, Methods } from '../context.ts';

export function confirmSubscription({
  store,
  outbox,
  now,
}: Context): Methods['confirmSubscription'] {
  return async ({ workspaceId, email, listId }) => {
    const change = { cause: 'confirm', targets: [{ email, listId }], at: now() } as const;
    await store.fork().transactional(async (em) => {
      await changeMemberships({ em, outbox, workspaceId }, change);
      await liftOptOuts(em, workspaceId, { emails: [email], listIds: [listId] });
    });
    return {};
  };
}
