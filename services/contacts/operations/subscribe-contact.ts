import { hasPermission } from '#lib/rpc/server/access.ts';
import { groupedCalls } from '../changes/grouped-calls.ts';
import { joinLists } from '../consent/membership-queries.ts';
import { type ContactRow, requireContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { withinQuota } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';
import { requireLists } from '../list-queries.ts';

type Subscription = {
  workspaceId: string;
  row: ContactRow;
  listIds: readonly string[];
  skipExisting: boolean;
};

export function subscribeContact(context: Context): Methods['subscribeContact'] {
  const subscribe = groupedCalls<Subscription, true>({
    kindOf: ({ listIds, skipExisting }) => [listIds, skipExisting],
    rowOf: ({ row }) => row.email,
    write: (workspaceId, subscriptions) => subscribeAll(context, workspaceId, subscriptions),
  });
  return async ({ workspaceId, contact, listIds: given }, call) => {
    const { row } = requireContact(contact);
    const listIds = [...new Set(given)];
    const skipExisting = !hasPermission(call, 'contacts', 'write');
    await subscribe({ workspaceId, row, listIds, skipExisting }, call);
    return { success: true };
  };
}

async function subscribeAll(
  { store, outbox, quotas, now }: Context,
  workspaceId: string,
  subscriptions: readonly Subscription[],
): Promise<(true | Error)[]> {
  const at = now();
  const { listIds = [], skipExisting = true } = subscriptions[0] ?? {};
  return store.fork().transactional(async (em) => {
    const scope = { em, outbox, quotas, workspaceId };
    await requireLists(em, workspaceId, { field: 'list_ids', ids: listIds });
    return withinQuota(scope, subscriptions, {
      emailOf: ({ row }) => row.email,
      write: async (within) => {
        const rows = within.map(({ row }) => row);
        await upsertContacts(scope, { rows, skipExisting, at });
        const emails = rows.map(({ email }) => email);
        await joinLists(scope, { join: 'subscribe', emails, listIds, at });
        return within.map(() => true);
      },
    });
  });
}
