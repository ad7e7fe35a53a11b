import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

const dates = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});

/** Times of pages that are in English for everybody. */
export const dateOf = (date: Date): string => `${dates.format(date)} UTC`;
export const timeOf = (time: Timestamp): string => dateOf(timestampDate(time));
