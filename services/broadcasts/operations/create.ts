import { randomBytes } from 'node:crypto';
import type { ServiceImpl } from '@connectrpc/connect';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { once } from '#lib/idempotency.ts';
import { Broadcast } from '../broadcast.ts';
import { broadcastMessages } from '../broadcast-queries.ts';
import { storedContent } from '../content.ts';
import type { Context } from '../context.ts';

const noSchedule = {
  is_scheduled: false,
  scheduled_date: '',
  scheduled_time: '',
  timezone: '',
  use_recipient_timezone: false,
};

export function create(context: Context): ServiceImpl<typeof BroadcastService>['createBroadcast'] {
  const { store, now } = context;
  return (request, call) => {
    const content = storedContent(request);
    const at = now();
    return once(store, call, BroadcastService.method.createBroadcast, request, async (em) => {
      const broadcast = em.create(Broadcast, {
        ...content,
        workspace_id: request.workspaceId,
        id: randomBytes(16).toString('hex'),
        status: 'draft',
        schedule: noSchedule,
        enqueued_count: 0,
        test_phase_recipient_count: 0,
        winner_phase_recipient_count: 0,
        revision: 0,
        outages: 0,
        created_at: at,
        updated_at: at,
      });
      await em.flush();
      const [message] = await broadcastMessages(context, em, [broadcast]);
      return { broadcast: message };
    });
  };
}
