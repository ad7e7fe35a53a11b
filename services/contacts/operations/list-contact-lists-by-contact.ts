import { query } from '#lib/postgres/query.ts';
import { liveMembershipsSql } from '../consent/membership.ts';
import { requireAddress } from '../contact/input.ts';
import { contactNotFound } from '../contact/queries.ts';
import type { Context, Methods } from '../context.ts';
import { contactListMessage, contactListSql } from '../views/contact-list.ts';

const membershipsMax = 1_000;

export function listContactListsByContact({
  store,
}: Context): Methods['listContactListsByContact'] {
  return async ({ workspaceId, email }) => {
    const [contact] = await query<{ memberships: string[] }>(
      store.fork(),
      `select array(
         select ${contactListSql}::text from ${liveMembershipsSql}
         where membership.workspace_id = $1 and membership.email = contact.email
         order by membership.list_id
         limit ${membershipsMax}
       ) as memberships
       from contacts contact where workspace_id = $1 and email = $2`,
      [workspaceId, requireAddress(email)],
    );
    if (!contact) throw contactNotFound();
    return { contactLists: contact.memberships.map(contactListMessage) };
  };
}
