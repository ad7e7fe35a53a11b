import { invalidField } from '#lib/errors/errors.ts';

/** A place in the log, newest first. */
export type AuditPosition = {
  /** In UTC, with six digits of a second. */
  time: string;
  id: string;
};

const pattern =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export function writeCursor({ time, id }: AuditPosition): string {
  return Buffer.from(`${time} ${id}`).toString('base64url');
}

/** Undefined for the newest entry. A forged cursor only moves the page. */
export function readCursor(cursor: string): AuditPosition | undefined {
  if (cursor === '') return undefined;
  const [, time = '', id = ''] = pattern.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const date = new Date(time);
  const exists =
    !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === time.slice(0, 19);
  if (!exists || time.startsWith('0000')) throw invalidField('cursor', 'invalid cursor');
  return { time, id };
}
