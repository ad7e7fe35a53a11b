import { requireContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import { requireContactRoom } from '../contact/room.ts';
import type { Context, Methods } from '../context.ts';

export function upsertContact(context: Context): Methods['upsertContact'] {
  const { store, outbox, quotas, now } = context;
  return async ({ workspaceId, contact }) => {
    const { row, input } = requireContact(contact);
    const cleared = input.nullFields?.paths;
    const scope = { em: store.fork(), outbox, quotas, workspaceId };
    await requireContactRoom(scope, row.email);
    const created = await upsertContacts(scope, { rows: [row], cleared, at: now() });
    return { email: row.email, action: created.has(row.email) ? 'create' : 'update' };
  };
}
