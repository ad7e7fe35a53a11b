import { fromJson } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { ListTimelineRequest } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import { isTimeOfCursor, readCursor, writeCursor } from '#lib/postgres/cursor.ts';
import { readTime } from '#lib/rpc/request-time.ts';

/**
 * A place in a timeline, newest first: behind everything later, and what happened then with this id
 * or a higher one.
 */
export type TimelinePosition = {
  /** In UTC, with six digits of a second. */
  time: string;
  id: string;
};

export function writePosition({ time, id }: TimelinePosition): string {
  return writeCursor(`${time} ${id}`);
}

/** Where the page of a request begins; undefined for the newest entry. */
export function readPosition({ cursor, until }: ListTimelineRequest): TimelinePosition | undefined {
  const end = readTime('until', until);
  const from = cursor === '' ? undefined : readCursor(cursor, placeIn);
  if (!end || (from && from.time < end)) return from;
  return { time: end, id: '' };
}

// The longest id has the name and the external id of a custom event.
const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([^\0]{1,400})$/su;

function placeIn(place: string): TimelinePosition | undefined {
  const [, time = '', id = ''] = pattern.exec(place) ?? [];
  return isTimeOfCursor(time) ? { time, id } : undefined;
}

/** The time of a position. */
export function timestampOf(time: string): Timestamp {
  return fromJson(TimestampSchema, time);
}
