import { invalidField } from '#lib/errors/errors.ts';

/** The last message of a page; the next page begins below it. */
export type MessageCursor = {
  time: string;
  id: string;
  /** Where pages are in the order of addresses. */
  email?: string;
};

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Below it there is no message of the same time. */
export const lowestId = '00000000-0000-0000-0000-000000000000';

export function writeCursor({ time, id, email }: MessageCursor): string {
  const parts = email === undefined ? [time, id] : [time, id, email];
  return Buffer.from(parts.join('~')).toString('base64url');
}

/** `prefix`: with which the addresses of the pages begin, if they are in the order of addresses. */
export function readCursor(cursor: string, prefix?: string): MessageCursor {
  const [time = '', id = '', ...rest] = Buffer.from(cursor, 'base64url')
    .toString('utf8')
    .split('~');
  const isTime =
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(time) && !Number.isNaN(Date.parse(time));
  // An address may have a tilde.
  const email = rest.length > 0 ? rest.join('~') : undefined;
  const isOfOrder = prefix === undefined ? email === undefined : email?.startsWith(prefix);
  if (!isTime || !uuid.test(id) || !isOfOrder) throw invalidField('cursor', 'invalid cursor');
  return email === undefined ? { time, id } : { time, id, email };
}
