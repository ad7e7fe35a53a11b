import { canonicalAddress } from '#lib/address.ts';
import { changeMemberships } from '../consent/membership-queries.ts';
import type { Context, Methods } from '../context.ts';

export function unsubscribeRecipient({
  store,
  outbox,
  now,
}: Context): Methods['unsubscribeRecipient'] {
  return async ({ workspaceId, listId, email }) => {
    const address = canonicalAddress(email);
    if (address) {
      const targets = [{ email: address, listId }];
      const change = { cause: 'unsubscribe', targets, at: now() } as const;
      await store
        .fork()
        .transactional((em) => changeMemberships({ em, outbox, workspaceId }, change));
    }
    return {};
  };
}
