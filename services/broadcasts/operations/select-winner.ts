import { findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { changeBroadcast } from '../lifecycle/change.ts';
import { readSample } from '../variations/stats.ts';

export function selectWinner(context: Context): Methods['selectWinner'] {
  const { store, now } = context;
  return async ({ workspaceId, id, templateId }, call) => {
    const key = { workspaceId, id };
    const sample = await readSample(context, await findBroadcast(store.fork(), key));
    await changeBroadcast(
      store,
      key,
      (broadcast) => broadcast.selectWinner(now(), { templateId, decidedBy: 'person', sample }),
      call,
    );
    return { success: true };
  };
}
