import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import { liveMembershipsSql } from '../consent/membership.ts';
import { requireAddress } from '../contact/input.ts';
import type { Context, Methods } from '../context.ts';
import { contactListMessage, contactListSql } from '../views/contact-list.ts';

export function getContactList({ store }: Context): Methods['getContactList'] {
  return async ({ workspaceId, email, listId }) => {
    const [row] = await query<{ membership: string }>(
      store.fork(),
      `select ${contactListSql}::text as membership from ${liveMembershipsSql}
       where membership.workspace_id = $1 and membership.list_id = $2 and membership.email = $3`,
      [workspaceId, listId, requireAddress(email)],
    );
    if (!row) throw refusal('MEMBERSHIP_NOT_FOUND', 'Contact list relationship not found');
    return { contactList: contactListMessage(row.membership) };
  };
}
