import { refusal } from '#lib/errors/reasons.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import { removeMemberships } from '../consent/membership-queries.ts';
import { requireAddress } from '../contact/input.ts';
import type { Context, Methods } from '../context.ts';

export function removeContactFromList({
  store,
  outbox,
  now,
}: Context): Methods['removeContactFromList'] {
  return async ({ workspaceId, email, listId }, call) => {
    const removal = { listId, emails: [requireAddress(email)], at: now() };
    await auditedTransaction(store, call, async (em) => {
      const removed = await removeMemberships({ em, outbox, workspaceId }, removal);
      if (removed === 0) throw refusal('MEMBERSHIP_NOT_FOUND', 'contact list not found');
    });
    return { success: true };
  };
}
