import { requireContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import type { Context, Methods } from '../context.ts';

export function upsertContact({ store, outbox, now }: Context): Methods['upsertContact'] {
  return async ({ workspaceId, contact }) => {
    const { row, input } = requireContact(contact);
    const cleared = input.nullFields?.paths;
    const created = await upsertContacts(
      { em: store.fork(), outbox, workspaceId },
      { rows: [row], cleared, at: now() },
    );
    return { email: row.email, action: created.has(row.email) ? 'create' : 'update' };
  };
}
