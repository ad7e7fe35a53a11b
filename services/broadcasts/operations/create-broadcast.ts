import { randomBytes } from 'node:crypto';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { Broadcast } from '../broadcast/broadcast.ts';
import { newDraft } from '../broadcast/row.ts';
import type { Context, Methods } from '../context.ts';
import { checkDataFeed, storedDataFeed } from '../feeds/data-feed.ts';
import { storedContent } from '../input/content.ts';
import { readOutcomes } from '../variations/outcomes.ts';
import { broadcastMessage } from '../views/broadcast.ts';

export function createBroadcast(context: Context): Methods['createBroadcast'] {
  const { store, now, keyring, quotas } = context;
  return async (request, call) => {
    const { workspaceId } = request;
    checkDataFeed(context, request);
    const id = randomBytes(16).toString('hex');
    const dataFeed = storedDataFeed(keyring, request.dataFeed, { workspaceId, id, before: null });
    const content = storedContent(request);
    const at = now();
    return once(store, call, BroadcastService.method.createBroadcast, request, async (em) => {
      quotas.requireRoom(workspaceId, 'broadcasts');
      if (request.dataFeed?.globalFeed) quotas.requireRoom(workspaceId, 'feed_bytes');
      const broadcast = em.create(Broadcast, {
        ...newDraft,
        ...content,
        data_feed: dataFeed,
        workspace_id: workspaceId,
        id,
        created_at: at,
        updated_at: at,
      });
      await em.flush();
      quotas.grew(workspaceId, 'broadcasts', 1);
      const outcomes = await readOutcomes(context, em, [broadcast]);
      return {
        broadcast: broadcastMessage(broadcast, { ...outcomes, pageUrlOf: context.pageLinks.urlOf }),
      };
    });
  };
}
