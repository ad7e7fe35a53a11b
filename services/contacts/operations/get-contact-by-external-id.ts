import type { ServiceImpl } from '@connectrpc/connect';
import type { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/store.ts';
import { contactMessage, contactNotFound, contactWithListsSql } from '../contact/queries.ts';
import type { Context } from '../context.ts';

export function getByExternalID({
  store,
}: Context): ServiceImpl<typeof ContactService>['getContactByExternalID'] {
  return async ({ workspaceId, externalId }) => {
    const [row] = await query<{ contact: string }>(
      store.fork(),
      `select ${contactWithListsSql} as contact from contacts contact
       where workspace_id = $1 and external_id = $2
       limit 1`,
      [workspaceId, externalId],
    );
    if (!row) throw contactNotFound();
    return { contact: contactMessage(row.contact) };
  };
}
