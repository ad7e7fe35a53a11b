import { canonicalAddress } from '#lib/address.ts';
import { contactNotFound } from '../contact/queries.ts';
import type { Context, Methods } from '../context.ts';
import { contactMessage, contactWithListsSql } from '../views/contact.ts';

export function getContactByEmail({ store }: Context): Methods['getContactByEmail'] {
  return async ({ workspaceId, email }) => {
    const address = canonicalAddress(email);
    // No contact has an invalid address.
    const [row] = address
      ? await store.read<{ contact: string }>(
          `select ${contactWithListsSql} as contact from contacts contact
           where workspace_id = $1 and email = $2`,
          [workspaceId, address],
        )
      : [];
    if (!row) throw contactNotFound();
    return { contact: contactMessage(row.contact) };
  };
}
