import type { JsonObject } from '@bufbuild/protobuf';
import { pageOf, pageSql } from '#lib/limits/page.ts';
import { writeCursor } from '#lib/postgres/cursor.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { readAddressCursor } from '../contact/cursor.ts';
import { contactJsonSql } from '../contact/fields.ts';

/** Members that a page looks at, so that it takes no longer where few of them are exported. */
const pageRows = 1_000;

export type ExportPage = { members: JsonObject[]; nextCursor?: string };

type Members = {
  /**
   * SQL of the first `limit` rows behind the address in `$1`, in the order of addresses, each with
   * its `email` and `isExported`.
   */
  rows: (limit: number) => string;
  /** SQL of the fields of a member in JSON beside its contact, in pairs. */
  fields: string;
  values: readonly unknown[];
  /** 1,000 if absent, which is the most. */
  limit?: number;
};

/** A page of members with their contacts. A member without a contact is left out. */
export async function readExport(
  em: EntityManager,
  cursor: string,
  { rows, fields, values, limit = pageRows }: Members,
): Promise<ExportPage> {
  const after = readAddressCursor(cursor);
  const select = `select member.email,
      case when contact.email is not null then json_build_object('contact', ${contactJsonSql()}, ${fields})::text end as item
    from (${rows(limit + 1)}) member
    left join contacts contact
      on contact.workspace_id = $2 and contact.email = member.email and member."isExported"`;
  const found = await query<{ email: string; item: string | null }>(
    em,
    composed(pageSql(select, { text: 'item', order: 'email' })),
    [after, ...values],
  );
  const { page, isLast } = pageOf(found, limit, ({ item }) => Buffer.byteLength(item ?? ''));
  const last = page.at(-1);
  return {
    members: page.flatMap(({ item }): JsonObject[] => (item === null ? [] : [JSON.parse(item)])),
    ...(!isLast && last ? { nextCursor: writeCursor(last.email) } : {}),
  };
}
