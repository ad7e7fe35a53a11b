import { isFullTime, readCursor, writeCursor } from '#lib/postgres/cursor.ts';

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

export function writeMessageCursor({ time, id, email }: MessageCursor): string {
  const parts = email === undefined ? [time, id] : [time, id, email];
  return writeCursor(parts.join('~'));
}

/** `prefix`: with which the addresses of the pages begin, if they are in the order of addresses. */
export function readMessageCursor(cursor: string, prefix?: string): MessageCursor {
  return readCursor(cursor, (place) => {
    const [time = '', id = '', ...rest] = place.split('~');
    // An address may have a tilde.
    const email = rest.length > 0 ? rest.join('~') : undefined;
    const isOfOrder = prefix === undefined ? email === undefined : email?.startsWith(prefix);
    if (!isFullTime(time) || !uuid.test(id) || !isOfOrder) return undefined;
    return email === undefined ? { time, id } : { time, id, email };
  });
}
