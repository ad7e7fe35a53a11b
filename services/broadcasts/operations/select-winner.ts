import { lockBroadcast } from '../broadcast-queries.ts';
import type { Context, Methods } from '../context.ts';
import { wake } from '../lifecycle/wake.ts';

export function selectWinner({ store, now }: Context): Methods['selectWinner'] {
  return ({ workspaceId, id, templateId }) =>
    store.fork().transactional(async (em) => {
      const broadcast = await lockBroadcast(em, { workspaceId, id });
      broadcast.selectWinner(now(), templateId, 'person');
      await em.flush();
      await wake(em, broadcast);
      return { success: true };
    });
}
