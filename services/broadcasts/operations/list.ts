import type { ServiceImpl } from '@connectrpc/connect';
import type { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { Broadcast } from '../broadcast.ts';
import { broadcastMessage, countsOf, statusWord } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';

const pageSizeDefault = 50;

export function list({ store }: Context): ServiceImpl<typeof BroadcastService>['listBroadcasts'] {
  return async ({ workspaceId, status, limit = pageSizeDefault, offset }) => {
    const em = store.fork();
    const word = statusWord(status);
    const where = { workspace_id: workspaceId, ...(word ? { status: word } : {}) };
    const [broadcasts, total] = await em.findAndCount(Broadcast, where, {
      orderBy: { created_at: 'desc', id: 'asc' },
      limit,
      offset,
    });
    const counts = await countsOf(
      em,
      workspaceId,
      broadcasts.map(({ id }) => id),
    );
    return {
      broadcasts: broadcasts.map((broadcast) => broadcastMessage(broadcast, counts(broadcast.id))),
      totalCount: total,
    };
  };
}
