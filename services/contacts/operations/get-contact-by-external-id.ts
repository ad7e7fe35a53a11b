import { query } from '#lib/postgres/query.ts';
import { contactNotFound } from '../contact/queries.ts';
import type { Context, Methods } from '../context.ts';
import { contactMessage, contactWithListsSql } from '../views/contact.ts';

export function getContactByExternalID({ store }: Context): Methods['getContactByExternalID'] {
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
