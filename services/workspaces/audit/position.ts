import { isTimeOfCursor, readCursor, writeCursor } from '#lib/postgres/cursor.ts';

/** A place in the log, newest first. */
export type AuditPosition = {
  /** In UTC, with six digits of a second. */
  time: string;
  id: string;
};

const pattern =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export function writePosition({ time, id }: AuditPosition): string {
  return writeCursor(`${time} ${id}`);
}

/** Undefined for the newest entry. */
export function readPosition(cursor: string): AuditPosition | undefined {
  if (cursor === '') return undefined;
  return readCursor(cursor, (place) => {
    const [, time = '', id = ''] = pattern.exec(place) ?? [];
    return isTimeOfCursor(time) ? { time, id } : undefined;
  });
}
