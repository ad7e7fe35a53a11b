import { isTimeOfCursor, readCursor, writeCursor } from '#lib/postgres/cursor.ts';

/** The start of a page in the order of time, newest first, and then address. */
export type ContactCursor = { createdAt: string; email: string };

export function writeContactCursor({ createdAt, email }: ContactCursor): string {
  return writeCursor(`${createdAt} ${email}`);
}

export function readContactCursor(cursor: string): ContactCursor {
  return readCursor(cursor, (place) => {
    const [, createdAt = '', email = ''] = /^(\S+) ([^\s\0]{1,254})$/.exec(place) ?? [];
    return isTimeOfCursor(createdAt) ? { createdAt, email } : undefined;
  });
}

/** The address that a page in the order of addresses starts after; empty for the first page. */
export function readAddressCursor(cursor: string): string {
  return readCursor(cursor, (place) => (/^[^\s\0]{0,254}$/.test(place) ? place : undefined));
}

/** SQL of the rows that follow a cursor. The first comparison positions the index scan. */
export function afterCursorSql(row: string, { at, email }: { at: string; email: string }): string {
  return `${row}.created_at <= ${at}::timestamptz
    and (${row}.created_at < ${at}::timestamptz or ${row}.email > ${email})`;
}
