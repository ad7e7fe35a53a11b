import type { ServiceImpl } from '@connectrpc/connect';
import type { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { broadcastMessage, countsOf, findBroadcast } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';

export function get({ store }: Context): ServiceImpl<typeof BroadcastService>['getBroadcast'] {
  return async ({ workspaceId, id }) => {
    const em = store.fork();
    const broadcast = await findBroadcast(em, { workspaceId, id });
    const counts = await countsOf(em, workspaceId, [id]);
    return { broadcast: broadcastMessage(broadcast, counts(id)) };
  };
}
