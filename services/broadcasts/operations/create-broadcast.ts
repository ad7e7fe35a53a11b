import { randomBytes } from 'node:crypto';
import { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { checkDataFeed, storedDataFeed } from '../feeds/data-feed.ts';
import { storedContent } from '../input/content.ts';
import { writeDraft } from '../lifecycle/draft.ts';

export function createBroadcast(context: Context): Methods['createBroadcast'] {
  const { store, keyring } = context;
  return async (request, call) => {
    const { workspaceId } = request;
    checkDataFeed(context, request);
    const id = randomBytes(16).toString('hex');
    const data_feed = storedDataFeed(keyring, request.dataFeed, { workspaceId, id, before: null });
    const draft = { ...storedContent(request), data_feed };
    return once(store, call, BroadcastService.method.createBroadcast, request, (em) =>
      writeDraft(context, em, { workspaceId, id, draft }),
    );
  };
}
