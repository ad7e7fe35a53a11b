import { invalidField } from '#lib/rpc/errors.ts';

/** The last message of a page; the next page begins below it. */
export type Cursor = { time: string; id: string };

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Below it there is no message of the same time. */
export const lowestId = '00000000-0000-0000-0000-000000000000';

export function writeCursor({ time, id }: Cursor): string {
  return Buffer.from(`${time}~${id}`).toString('base64url');
}

export function readCursor(cursor: string): Cursor {
  const [time = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split('~');
  const isTime =
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(time) && !Number.isNaN(Date.parse(time));
  if (!isTime || !uuid.test(id)) throw invalidField('cursor', 'invalid cursor');
  return { time, id };
}
