import { DateTime } from 'luxon';
import { isKnownTimeZone, isTimeZone } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Schedule } from '../broadcast/row.ts';

const latenessMaxMs = 60 * 60_000;

export type LocalTime = {
  scheduledDate: string;
  scheduledTime: string;
  timezone: string;
  /** Whether the zone is no part of the request: stored ones may be abbreviations. */
  isStoredZone?: boolean;
  /** Whether each recipient has this time in its own zone. */
  useRecipientTimezone?: boolean;
};

/** The zone in which a day begins first. */
const firstZone = 'Etc/GMT-14';

/** The zone in which a day begins last. */
const lastZone = 'Etc/GMT+12';

/** Timestamps and columns hold nothing later. */
const lastMoment = new Date('9999-12-31T23:59:59.999Z');

/**
 * The moment of a local time. A time that daylight saving skips moves forward; of a repeated one
 * the first is taken. Up to an hour in the past is accepted and starts at once. With the
 * recipients' own zones it is the moment of the first zone of the world. `prefix` names the message
 * that holds the fields.
 */
export function startTime(local: LocalTime, now: Date, prefix = ''): Date {
  const { scheduledDate, scheduledTime, timezone, useRecipientTimezone = false } = local;
  if (!scheduledDate || !scheduledTime) {
    throw invalidField(
      `${prefix}${scheduledDate ? 'scheduled_time' : 'scheduled_date'}`,
      'scheduled_date and scheduled_time are required when not sending immediately',
    );
  }
  if (!/^\d{4}-\d{2}-\d{2}$/.test(scheduledDate)) {
    throw invalidField(`${prefix}scheduled_date`, 'scheduled date must be in YYYY-MM-DD format');
  }
  if (!/^\d{2}:\d{2}$/.test(scheduledTime)) {
    throw invalidField(`${prefix}scheduled_time`, 'scheduled time must be in HH:MM format');
  }
  const isZone = local.isStoredZone ? isKnownTimeZone : isTimeZone;
  if (!isZone(timezone)) throw invalidField(`${prefix}timezone`, `invalid timezone: ${timezone}`);
  const time = moment(local, timezone);
  if (Number.isNaN(time.getTime()) || moment(local, lastZone) > lastMoment) {
    throw invalidField(`${prefix}scheduled_date`, 'scheduled date and time do not exist');
  }
  if (time.getTime() < now.getTime() - latenessMaxMs) {
    throw invalidField(`${prefix}scheduled_date`, 'scheduled time is more than an hour past');
  }
  return useRecipientTimezone ? moment(local, firstZone) : time;
}

/** A local time that does not exist is an invalid date. */
function moment({ scheduledDate, scheduledTime }: LocalTime, zone: string): Date {
  const time = DateTime.fromISO(`${scheduledDate}T${scheduledTime}`, { zone });
  if (!time.isValid) return new Date(Number.NaN);
  const [first = time] = time.getPossibleOffsets();
  return first.toJSDate();
}

/**
 * The moment of a schedule's local time in a zone. An unknown or empty zone falls back to that of
 * the schedule.
 */
export function momentIn(schedule: Schedule): (zone: string) => Date {
  const local = {
    scheduledDate: schedule.scheduled_date,
    scheduledTime: schedule.scheduled_time,
    timezone: schedule.timezone,
  };
  const known = new Map<string, Date>();
  return (zone) => {
    const kept = known.get(zone);
    if (kept) return kept;
    const time = moment(local, isKnownTimeZone(zone) ? zone : schedule.timezone);
    known.set(zone, time);
    return time;
  };
}
