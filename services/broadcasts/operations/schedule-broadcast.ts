import { expectTemplateUses } from '#lib/jobs/template-uses.ts';
import { broadcastChanged, findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { zoneOfWorkspace } from '../input/reschedule.ts';
import { startTime } from '../input/start-time.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { checkNotOpenedOf } from '../plan/not-opened-of.ts';
import { checkSendable } from '../plan/sendable.ts';
import { beginBroadcastUses, broadcastUser } from '../variations/template-uses.ts';

export function scheduleBroadcast(context: Context): Methods['scheduleBroadcast'] {
  const { store, now } = context;
  return async (request, call) => {
    const draft = await findBroadcast(store.fork(), request);
    const { workspaceId, sendNow, timezone } = request;
    const zone = timezone || sendNow ? timezone : await zoneOfWorkspace(context, workspaceId);
    const startsAt = sendNow
      ? undefined
      : startTime({ ...request, timezone: zone, isStoredZone: timezone === '' }, now());
    if (draft.status === 'draft') {
      await checkSendable(context, draft);
      await checkNotOpenedOf(context, draft, startsAt ? 'schedule' : 'start');
      await expectTemplateUses(store, broadcastUser(request));
    }
    await changeBroadcast(
      store,
      request,
      async (broadcast, em) => {
        const isAsChecked = broadcast.revision === draft.revision;
        broadcast.start(now(), startsAt);
        if (!isAsChecked) throw broadcastChanged();
        if (startsAt) {
          broadcast.schedule = {
            is_scheduled: true,
            scheduled_date: request.scheduledDate,
            scheduled_time: request.scheduledTime,
            timezone: zone,
            use_recipient_timezone: request.useRecipientTimezone,
          };
        }
        await beginBroadcastUses(em, context, broadcast);
      },
      call,
    );
    return { success: true };
  };
}
