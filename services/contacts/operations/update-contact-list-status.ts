import type { HandlerContext } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';
import { auditedTogether } from '#lib/rpc/server/audit.ts';
import { groupedCalls } from '../changes/grouped-calls.ts';
import { type ConsentStatus, readStatus } from '../consent/membership.ts';
import { setStatus } from '../consent/membership-queries.ts';
import { requireAddress } from '../contact/input.ts';
import type { Context, Methods } from '../context.ts';

type StatusUpdate = {
  workspaceId: string;
  email: string;
  listId: string;
  status: ConsentStatus;
  call: HandlerContext;
};

export function updateContactListStatus(context: Context): Methods['updateContactListStatus'] {
  const update = groupedCalls<StatusUpdate, { found: boolean }>({
    kindOf: ({ status }) => status,
    rowOf: ({ email, listId }) => [email, listId],
    write: (workspaceId, updates) => updateAll(context, workspaceId, updates),
  });
  return async (request, call) => {
    const { workspaceId, listId } = request;
    const email = requireAddress(request.email);
    const status = readStatus('status', request.status);
    if (!status) throw invalidField('status', 'status is required');
    const { found } = await update({ workspaceId, email, listId, status, call }, call);
    const message = found ? 'status updated successfully' : 'contact not in list';
    return { success: true, message, found };
  };
}

async function updateAll(
  { store, outbox, now }: Context,
  workspaceId: string,
  updates: readonly StatusUpdate[],
) {
  const [first] = updates;
  if (!first) return [];
  const calls = updates.map(({ call }) => call);
  const found = await auditedTogether(store, calls, (em) =>
    setStatus({ em, outbox, workspaceId }, { status: first.status, targets: updates, at: now() }),
  );
  return found.map((each) => ({ found: each }));
}
