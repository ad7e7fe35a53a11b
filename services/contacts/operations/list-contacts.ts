import type { ListContactsRequest } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { pageOf, pageSql } from '#lib/limits/page.ts';
import { pagedSql } from '#lib/postgres/page-indexes.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import { readStatus } from '../consent/membership.ts';
import { afterCursorSql, readContactCursor, writeContactCursor } from '../contact/cursor.ts';
import { containing } from '../contact/like.ts';
import type { Context, Methods } from '../context.ts';
import { contactMessage, contactSql, contactWithListsSql } from '../views/contact.ts';

const limitDefault = 20;

export function listContacts({ store }: Context): Methods['listContacts'] {
  return async (request) => {
    const limit = request.limit ?? limitDefault;
    const where = conditions(request);
    const select = `select ${request.withContactLists ? contactWithListsSql : contactSql} as contact, contact.created_at,
         ${timestampSql('contact.created_at')} as "createdAt", contact.email
       from (
         select * from contacts contact
         where ${where.sql.join(' and ')}
         order by created_at desc, email
         limit ${limit + 1}
       ) contact
       order by contact.created_at desc, contact.email`;
    const rows = await query<{ contact: string; createdAt: string; email: string }>(
      store.fork(),
      composed(pageSql(select, { text: 'contact', order: 'created_at desc, email' })),
      where.values,
    );
    const { page, isLast } = pageOf(rows, limit, ({ contact }) => Buffer.byteLength(contact));
    const last = page.at(-1);
    return {
      contacts: page.map(({ contact }) => contactMessage(contact)),
      nextCursor: !isLast && last ? writeContactCursor(last) : undefined,
    };
  };
}

const textFilters = [
  ['external_id', 'externalId'],
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['full_name', 'fullName'],
  ['phone', 'phone'],
  ['country', 'country'],
  ['language', 'language'],
] as const;

function conditions(request: ListContactsRequest): { sql: string[]; values: unknown[] } {
  const values: unknown[] = [];
  const bound = (value: unknown) => `$${values.push(value)}`;
  const sql = [`contact.workspace_id = ${bound(request.workspaceId)}`, pagedSql('contact')];
  // Addresses are stored in lower case, so `like` is enough, which is cheaper than `ilike`.
  if (request.email !== '') {
    sql.push(`contact.email like ${bound(containing(request.email.toLowerCase()))}`);
  }
  for (const [column, property] of textFilters) {
    if (request[property] === '') continue;
    const pattern = bound(containing(request[property]));
    sql.push(`contact.${column} collate "und-x-icu" ilike ${pattern}`);
  }
  const status = readStatus('contact_list_status', request.contactListStatus);
  if (request.listId !== '' || status) {
    const onList = request.listId === '' ? 'true' : `membership.list_id = ${bound(request.listId)}`;
    const withStatus = status ? `membership.status = ${bound(status)}` : 'true';
    sql.push(`exists (
      select from memberships membership
      join lists list on (list.workspace_id, list.id) = (membership.workspace_id, membership.list_id)
      where (membership.workspace_id, membership.email) = (contact.workspace_id, contact.email)
        and membership.deleted_at is null and list.deleted_at is null
        and ${onList} and ${withStatus})`);
  }
  if (request.segments.length > 0) {
    sql.push(`exists (
      select from segment_members member
      join segments segment on (segment.workspace_id, segment.id) = (member.workspace_id, member.segment_id)
      where (member.workspace_id, member.email) = (contact.workspace_id, contact.email)
        and member.segment_id = any(${bound(request.segments)}::text[]) and segment.status <> 'deleted')`);
  }
  if (request.cursor !== '') {
    const { createdAt, email } = readContactCursor(request.cursor);
    sql.push(afterCursorSql('contact', { at: bound(createdAt), email: bound(email) }));
  }
  return { sql, values };
}
