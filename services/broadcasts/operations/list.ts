import type { ServiceImpl } from '@connectrpc/connect';
import type { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { Broadcast } from '../broadcast.ts';
import { broadcastMessages, statusWord } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';

const pageSizeDefault = 50;

export function list(context: Context): ServiceImpl<typeof BroadcastService>['listBroadcasts'] {
  return async ({ workspaceId, status, limit = pageSizeDefault, offset }) => {
    const em = context.store.fork();
    const word = statusWord(status);
    const where = { workspace_id: workspaceId, ...(word ? { status: word } : {}) };
    const [broadcasts, total] = await em.findAndCount(Broadcast, where, {
      orderBy: { created_at: 'desc', id: 'asc' },
      limit,
      offset,
    });
    return {
      broadcasts: await broadcastMessages(context, em, broadcasts),
      totalCount: total,
    };
  };
}
