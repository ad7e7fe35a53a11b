import { lockBroadcast } from '../broadcast-queries.ts';
import type { Context, Methods } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';

export function pauseBroadcast({ store, now }: Context): Methods['pauseBroadcast'] {
  return (key) =>
    store.fork().transactional(async (em) => {
      const broadcast = await lockBroadcast(em, key);
      broadcast.pause(now());
      await em.flush();
      await wake(em, broadcast);
      return { success: true };
    });
}
