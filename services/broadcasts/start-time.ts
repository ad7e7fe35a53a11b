import { DateTime } from 'luxon';
import { isTimeZone } from '#lib/address.ts';
import { invalidField } from '#lib/rpc/errors.ts';

const latenessMaxMs = 60 * 60_000;

export type LocalTime = { scheduledDate: string; scheduledTime: string; timezone: string };

/**
 * The moment that a local time means. A time that daylight saving skips moves forward, one that it
 * repeats is the first. Up to an hour past is fine and starts at once; `prefix` names the message
 * that holds the fields.
 */
export function startTime(local: LocalTime, now: Date, prefix = ''): Date {
  const { scheduledDate, scheduledTime, timezone } = local;
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
  if (!isTimeZone(timezone))
    throw invalidField(`${prefix}timezone`, `invalid timezone: ${timezone}`);
  const time = DateTime.fromISO(`${scheduledDate}T${scheduledTime}`, { zone: timezone });
  if (!time.isValid) {
    throw invalidField(`${prefix}scheduled_date`, 'scheduled date and time do not exist');
  }
  const [first = time] = time.getPossibleOffsets();
  if (first.toMillis() < now.getTime() - latenessMaxMs) {
    throw invalidField(`${prefix}scheduled_date`, 'scheduled time is more than an hour past');
  }
  return first.toJSDate();
}
