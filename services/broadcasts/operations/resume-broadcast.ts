import type { ServiceImpl } from '@connectrpc/connect';
import type { BroadcastService } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { lockBroadcast } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';

export function resume({
  store,
  now,
}: Context): ServiceImpl<typeof BroadcastService>['resumeBroadcast'] {
  return (key) =>
    store.fork().transactional(async (em) => {
      const broadcast = await lockBroadcast(em, key);
      broadcast.resume(now());
      await em.flush();
      await wake(em, broadcast);
      return { success: true };
    });
}
