import { hasPermission } from '#lib/rpc/server/access.ts';
import { joinLists } from '../consent/membership-queries.ts';
import { liftOptOuts } from '../consent/opt-outs.ts';
import { requireContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { requireContactRoom } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';
import { requireLists } from '../list-queries.ts';

export function subscribeContact(context: Context): Methods['subscribeContact'] {
  const { store, outbox, quotas, now } = context;
  return async ({ workspaceId, contact, listIds: given }, call) => {
    const { row } = requireContact(contact);
    const listIds = [...new Set(given)];
    const at = now();
    const skipExisting = !hasPermission(call, 'contacts', 'write');
    await store.fork().transactional(async (em) => {
      const scope = { em, outbox, quotas, workspaceId };
      await requireLists(em, workspaceId, { field: 'list_ids', ids: listIds });
      await requireContactRoom(scope, row.email);
      await upsertContacts(scope, { rows: [row], skipExisting, at });
      const joining = { join: 'subscribe', emails: [row.email], listIds, at } as const;
      await joinLists(scope, joining);
      await liftOptOuts(em, workspaceId, joining);
    });
    return { success: true };
  };
}
