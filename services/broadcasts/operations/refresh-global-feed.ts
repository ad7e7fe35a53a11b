import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { findBroadcast, lockBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { askGlobalFeed, type GlobalFeed, saveGlobalFeed } from '../feeds/global.ts';
import { checkTrial, trialAnswer, trialOf } from '../feeds/trial.ts';

export function refreshGlobalFeed(context: Context): Methods['refreshGlobalFeed'] {
  return async (request) => {
    checkTrial(context, request);
    const key = { workspaceId: request.workspaceId, id: request.broadcastId };
    const broadcast = await findBroadcast(context.store.fork(), key);
    const feed = trialOf(context, request, {
      key: { workspaceId: request.workspaceId, id: request.broadcastId, kind: 'global' },
      kept: broadcast.data_feed?.global_feed,
    });
    const answer = await askGlobalFeed(context, broadcast, feed);
    if (!('error' in answer)) await keep(context, key, answer);
    return trialAnswer('global', answer);
  };
}

/** From the first page of the audience on, the pinned answer stays. */
function keep({ store }: Context, key: BroadcastKey, answer: GlobalFeed): Promise<void> {
  return store.fork().transactional(async (em) => {
    const broadcast = await lockBroadcast(em, key);
    if (broadcast.plan) return;
    await saveGlobalFeed(em, broadcast, answer);
    await em.flush();
  });
}
