import { invalidField } from '#lib/errors/errors.ts';

/** The start of a page in the order of time, newest first, and then address. */
export type ContactCursor = { createdAt: string; email: string };

export function writeCursor({ createdAt, email }: ContactCursor): string {
  return Buffer.from(`${createdAt} ${email}`).toString('base64url');
}

/** A cursor is not secret, and a forged one only moves the start of the page. */
export function readCursor(cursor: string): ContactCursor {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, time = '', email] = /^(\S+) ([^\s\0]{1,254})$/.exec(text) ?? [];
  const createdAt = readTime(time);
  if (!createdAt || !email) throw invalidField('cursor', 'invalid cursor');
  return { createdAt, email };
}

/** SQL of the rows that follow a cursor. The first comparison positions the index scan. */
export function afterCursorSql(row: string, { at, email }: { at: string; email: string }): string {
  return `${row}.created_at <= ${at}::timestamptz
    and (${row}.created_at < ${at}::timestamptz or ${row}.email > ${email})`;
}

/** A time in a cursor; undefined for one that does not exist, such as February 31 or the year 0. */
export function readTime(text: string): string | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/.test(text)) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || text.startsWith('0000')) return undefined;
  return time.toISOString().slice(0, 19) === text.slice(0, 19) ? text : undefined;
}
