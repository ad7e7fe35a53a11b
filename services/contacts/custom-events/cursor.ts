import { isTimeOfCursor, readCursor, writeCursor } from '#lib/postgres/cursor.ts';

/** The last event of a page: the next page begins behind it. */
export type CustomEventCursor = { occurredAt: string; eventName: string; externalId: string };

const form = /^(\S+) ([a-z0-9_./-]{1,100}) ([^\0]{1,255})$/su;

export function writeEventCursor({ occurredAt, eventName, externalId }: CustomEventCursor): string {
  return writeCursor(`${occurredAt} ${eventName} ${externalId}`);
}

export function readEventCursor(cursor: string): CustomEventCursor {
  return readCursor(cursor, (place) => {
    const [, occurredAt = '', eventName = '', externalId = ''] = form.exec(place) ?? [];
    return isTimeOfCursor(occurredAt) ? { occurredAt, eventName, externalId } : undefined;
  });
}
