import { canonicalAddress } from '#lib/address.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { changeMemberships, lockContacts } from '../consent/membership-queries.ts';
import { addOptOut } from '../consent/opt-outs.ts';
import type { Context, Methods } from '../context.ts';

export function unsubscribeRecipient({
  store,
  outbox,
  now,
}: Context): Methods['unsubscribeRecipient'] {
  return async ({ workspaceId, listId, email: given, ...asked }) => {
    const happenedAt = readTime('happened_at', asked.happenedAt);
    const email = canonicalAddress(given);
    if (!email) return {};
    const at = now();
    const target = { email, listId, ...(happenedAt !== undefined && { happenedAt }) };
    const change = { cause: 'unsubscribe', targets: [target], at } as const;
    await store.fork().transactional(async (em) => {
      await lockContacts(em, workspaceId, [email]);
      if (listId === '') await addOptOut(em, workspaceId, { email, at, happenedAt });
      await changeMemberships({ em, outbox, workspaceId }, change);
    });
    return {};
  };
}
