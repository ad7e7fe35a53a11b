import type { ServiceImpl } from '@connectrpc/connect';
import type { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { requireContact } from '../contact/input.ts';
import { upsertContacts } from '../contact/queries.ts';
import type { Context } from '../context.ts';

export function upsert({
  store,
  outbox,
  now,
}: Context): ServiceImpl<typeof ContactService>['upsertContact'] {
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
