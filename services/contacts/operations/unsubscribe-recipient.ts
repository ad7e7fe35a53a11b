import { canonicalAddress } from '#lib/address.ts';
import { changeMemberships, lockContacts } from '../consent/membership-queries.ts';
import { addOptOut } from '../consent/opt-outs.ts';
import type { Context, Methods } from '../context.ts';

export function unsubscribeRecipient({
  store,
  outbox,
  now,
}: Context): Methods['unsubscribeRecipient'] {
  return async ({ workspaceId, listId, email: given }) => {
    const email = canonicalAddress(given);
    if (!email) return {};
    const at = now();
    const change = { cause: 'unsubscribe', targets: [{ email, listId }], at } as const;
    await store.fork().transactional(async (em) => {
      await lockContacts(em, workspaceId, [email]);
      if (listId === '') await addOptOut(em, workspaceId, { email, at });
      await changeMemberships({ em, outbox, workspaceId }, change);
    });
    return {};
  };
}
