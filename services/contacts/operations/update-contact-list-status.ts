import { invalidField } from '#lib/errors/errors.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import { readStatus } from '../consent/membership.ts';
import { setStatus } from '../consent/membership-queries.ts';
import { requireAddress } from '../contact/input.ts';
import type { Context, Methods } from '../context.ts';

export function updateContactListStatus({
  store,
  outbox,
  now,
}: Context): Methods['updateContactListStatus'] {
  return async (request, call) => {
    const { workspaceId, listId } = request;
    const email = requireAddress(request.email);
    const status = readStatus('status', request.status);
    if (!status) throw invalidField('status', 'status is required');
    const change = { status, email, listId, at: now() };
    const found = await auditedTransaction(store, call, (em) =>
      setStatus({ em, outbox, workspaceId }, change),
    );
    const message = found ? 'status updated successfully' : 'contact not in list';
    return { success: true, message, found };
  };
}
