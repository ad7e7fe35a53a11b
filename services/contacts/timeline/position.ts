import { fromJson } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { ListTimelineRequest } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { readTime } from '#lib/rpc/request-time.ts';

/** A place in a timeline, newest first: behind everything later, and what happened then with this id or a higher one. */
export type TimelinePosition = {
  /** In UTC, with six digits of a second. */
  time: string;
  id: string;
};

export function writeCursor({ time, id }: TimelinePosition): string {
  return Buffer.from(`${time} ${id}`).toString('base64url');
}

/** Where the page of a request begins; undefined for the newest entry. A forged cursor only moves it. */
export function readPosition({ cursor, until }: ListTimelineRequest): TimelinePosition | undefined {
  const end = readTime('until', until);
  const from = cursor === '' ? undefined : readCursor(cursor);
  if (!end || (from && from.time < end)) return from;
  return { time: end, id: '' };
}

// The longest id has the name and the external id of a custom event.
const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([^\0]{1,400})$/su;

function readCursor(cursor: string): TimelinePosition {
  const [, time = '', id = ''] = pattern.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const date = new Date(time);
  const exists =
    !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === time.slice(0, 19);
  if (!exists || time.startsWith('0000')) throw invalidField('cursor', 'invalid cursor');
  return { time, id };
}

/** The time of a position. */
export function timestampOf(time: string): Timestamp {
  return fromJson(TimestampSchema, time);
}
