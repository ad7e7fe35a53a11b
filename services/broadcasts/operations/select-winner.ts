import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';

export function selectWinner({ store, now }: Context): Methods['selectWinner'] {
  return async ({ workspaceId, id, templateId }, call) => {
    await changeBroadcast(
      store,
      { workspaceId, id },
      (broadcast) => broadcast.selectWinner(now(), templateId, 'person'),
      call,
    );
    return { success: true };
  };
}
