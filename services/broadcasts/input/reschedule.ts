import type { Schedule as ScheduleMessage } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import type { Schedule } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';
import { startTime } from './start-time.ts';

/**
 * Changes the given parts of a schedule and keeps the others. A draft only stores them; a broadcast
 * that is scheduled or paused moves to the new time. `zone` is for a schedule that has none.
 */
export function reschedule(
  broadcast: Broadcast,
  given: ScheduleMessage,
  { now, zone }: { now: Date; zone: string },
): void {
  const before = broadcast.schedule;
  const isDraft = broadcast.status === 'draft';
  const after = merged(before, given, zone);
  if (!isDraft && before.is_scheduled && !after.is_scheduled) {
    throw invalidField(
      'schedule.is_scheduled',
      'is_scheduled must stay true: give another time, or cancel the broadcast',
    );
  }
  if (!isDifferent(before, after)) return;
  broadcast.schedule = after;
  if (!after.is_scheduled) return;
  const startsAt = startTime(
    {
      scheduledDate: after.scheduled_date,
      scheduledTime: after.scheduled_time,
      timezone: after.timezone,
      isStoredZone: ['', before.timezone].includes(given.timezone),
      useRecipientTimezone: after.use_recipient_timezone,
    },
    now,
    'schedule.',
  );
  if (!isDraft) broadcast.starts_at = startsAt;
}

/** The zone of schedules that name none. */
export async function zoneOfWorkspace(
  { workspaces }: Pick<Peers, 'workspaces'>,
  workspaceId: string,
): Promise<string> {
  const { settings } = await workspaces.getSettings({ workspaceId });
  return settings?.timezone || 'UTC';
}

function merged(before: Schedule, given: ScheduleMessage, zone: string): Schedule {
  const namesTime = given.scheduledDate !== '' || given.scheduledTime !== '';
  return {
    is_scheduled: given.isScheduled ?? (namesTime || before.is_scheduled),
    scheduled_date: given.scheduledDate || before.scheduled_date,
    scheduled_time: given.scheduledTime || before.scheduled_time,
    timezone: given.timezone || before.timezone || zone,
    use_recipient_timezone: given.useRecipientTimezone ?? before.use_recipient_timezone,
  };
}

function isDifferent(before: Schedule, after: Schedule): boolean {
  return (
    before.is_scheduled !== after.is_scheduled ||
    before.scheduled_date !== after.scheduled_date ||
    before.scheduled_time !== after.scheduled_time ||
    before.timezone !== after.timezone ||
    before.use_recipient_timezone !== after.use_recipient_timezone
  );
}
