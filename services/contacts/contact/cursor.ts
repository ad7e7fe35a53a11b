import { invalidField } from '#lib/rpc/errors.ts';

/** Where a page that is ordered by time, newest first, and then by address begins. */
export type Cursor = { createdAt: string; email: string };

export function writeCursor({ createdAt, email }: Cursor): string {
  return Buffer.from(`${createdAt} ${email}`).toString('base64url');
}

/** Nothing in a cursor is secret; whatever its text, it only says where a page begins. */
export function readCursor(cursor: string): Cursor {
  const text = Buffer.from(cursor, 'base64url').toString();
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) ([^\s\0]{1,254})$/.exec(text);
  const [, createdAt, email] = match ?? [];
  if (!createdAt || !email || !isTime(createdAt)) throw invalidField('cursor', 'invalid cursor');
  return { createdAt, email };
}

/** SQL of the rows that follow a cursor. The first comparison is where the index is entered. */
export function afterCursorSql(row: string, { at, email }: { at: string; email: string }): string {
  return `${row}.created_at <= ${at}::timestamptz
    and (${row}.created_at < ${at}::timestamptz or ${row}.email > ${email})`;
}

/** The 31st of February matches the pattern, and PostgreSQL knows no year 0. */
function isTime(text: string): boolean {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || text.startsWith('0000')) return false;
  return time.toISOString().slice(0, 19) === text.slice(0, 19);
}
