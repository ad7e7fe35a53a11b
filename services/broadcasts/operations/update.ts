import type { ServiceImpl } from '@connectrpc/connect';
import type {
  BroadcastService,
  UpdateBroadcastRequest,
} from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import type { Broadcast } from '../broadcast.ts';
import { broadcastMessages, lockBroadcast } from '../broadcast-queries.ts';
import { storedContent } from '../content.ts';
import type { Context } from '../context.ts';
import { startTime } from '../start-time.ts';
import { wake } from '../wake.ts';

export function update(context: Context): ServiceImpl<typeof BroadcastService>['updateBroadcast'] {
  const { store, now } = context;
  return (request) => {
    const content = storedContent(request);
    return store.fork().transactional(async (em) => {
      const broadcast = await lockBroadcast(em, request);
      broadcast.update(now());
      Object.assign(broadcast, content);
      reschedule(broadcast, request, now());
      await em.flush();
      if (broadcast.status !== 'draft') await wake(em, broadcast);
      const [message] = await broadcastMessages(context, em, [broadcast]);
      return { broadcast: message };
    });
  };
}

/** A draft keeps its wish for a time; what is scheduled already moves to the new one. */
function reschedule(broadcast: Broadcast, { schedule }: UpdateBroadcastRequest, now: Date): void {
  if (!schedule) return;
  const timezone = schedule.timezone || broadcast.schedule.timezone || 'UTC';
  const startsAt = schedule.isScheduled
    ? startTime({ ...schedule, timezone }, now, 'schedule.')
    : undefined;
  broadcast.schedule = {
    is_scheduled: schedule.isScheduled,
    scheduled_date: schedule.scheduledDate,
    scheduled_time: schedule.scheduledTime,
    timezone,
    use_recipient_timezone: schedule.useRecipientTimezone,
  };
  if (broadcast.status !== 'draft') broadcast.starts_at = startsAt ?? now;
}
