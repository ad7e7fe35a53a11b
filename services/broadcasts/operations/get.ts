import type { ServiceImpl } from '@connectrpc/connect';
import type { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { broadcastMessages, findBroadcast } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';

export function get(context: Context): ServiceImpl<typeof BroadcastService>['getBroadcast'] {
  return async ({ workspaceId, id }) => {
    const em = context.store.fork();
    const broadcast = await findBroadcast(em, { workspaceId, id });
    const [message] = await broadcastMessages(context, em, [broadcast]);
    return { broadcast: message };
  };
}
