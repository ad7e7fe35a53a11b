import { lockBroadcast } from '../broadcast-queries.ts';
import type { Context, Methods } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';

export function resumeBroadcast({ store, now }: Context): Methods['resumeBroadcast'] {
  return (key) =>
    store.fork().transactional(async (em) => {
      const broadcast = await lockBroadcast(em, key);
      broadcast.resume(now());
      await em.flush();
      await wake(em, broadcast);
      return { success: true };
    });
}
