import { invalidField } from '#lib/errors/errors.ts';
import { readTime } from '../contact/cursor.ts';

/** The last event of a page: the next page begins behind it. */
export type CustomEventCursor = { occurredAt: string; eventName: string; externalId: string };

export function writeCursor({ occurredAt, eventName, externalId }: CustomEventCursor): string {
  return Buffer.from(`${occurredAt} ${eventName} ${externalId}`).toString('base64url');
}

/** A cursor is not secret, and a forged one only moves the start of the page. */
export function readCursor(cursor: string): CustomEventCursor {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, time = '', eventName, externalId] =
    /^(\S+) ([a-z0-9_./-]{1,100}) ([^\0]{1,255})$/su.exec(text) ?? [];
  const occurredAt = readTime(time);
  if (!occurredAt || !eventName || !externalId) throw invalidField('cursor', 'invalid cursor');
  return { occurredAt, eventName, externalId };
}
