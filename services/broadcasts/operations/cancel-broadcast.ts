import { forgetIfOver } from '../audience/forget.ts';
import { lockBroadcast } from '../broadcast-queries.ts';
import type { Context, Methods } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';

export function cancelBroadcast({ store, now }: Context): Methods['cancelBroadcast'] {
  return (key) =>
    store.fork().transactional(async (em) => {
      const broadcast = await lockBroadcast(em, key);
      broadcast.cancel(now());
      await em.flush();
      await wake(em, broadcast);
      await forgetIfOver(em, broadcast);
      return { success: true };
    });
}
