import { pagedSql } from '#lib/postgres/page-indexes.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import { liveMembershipsSql } from '../consent/membership.ts';
import { afterCursorSql, readContactCursor, writeContactCursor } from '../contact/cursor.ts';
import type { Context, Methods } from '../context.ts';
import { findList } from '../list-queries.ts';
import { contactListMessage, contactListSql } from '../views/contact-list.ts';

const limitDefault = 1_000;

export function listContactListsByList({ store }: Context): Methods['listContactListsByList'] {
  return async ({ workspaceId, listId, limit = limitDefault, cursor }) => {
    const em = store.fork();
    const from = cursor === '' ? undefined : readContactCursor(cursor);
    await findList(em, { workspaceId, id: listId });
    const rows = await query<{ membership: string; createdAt: string; email: string }>(
      em,
      composed(`select ${contactListSql}::text as membership, membership.email,
         ${timestampSql('membership.created_at')} as "createdAt"
       from ${liveMembershipsSql}
       where membership.workspace_id = $1 and membership.list_id = $2
         and ${pagedSql('membership')}
         and ${from ? afterCursorSql('membership', { at: '$3', email: '$4' }) : 'true'}
       order by membership.created_at desc, membership.email
       limit ${limit + 1}`),
      [workspaceId, listId, ...(from ? [from.createdAt, from.email] : [])],
    );
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      contactLists: page.map(({ membership }) => contactListMessage(membership)),
      nextCursor: rows.length > limit && last ? writeContactCursor(last) : undefined,
    };
  };
}
