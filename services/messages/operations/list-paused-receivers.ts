import type { Context, Methods } from '../context.ts';
import { listPauses } from '../receivers/pauses.ts';
import { toPausedReceiver } from '../views/paused-receiver.ts';

export function listPausedReceivers({ store }: Context): Methods['listPausedReceivers'] {
  return async ({ workspaceId, integrationId }) => {
    const pauses = await listPauses(store.fork(), { workspaceId, integrationId });
    return { paused: pauses.map(toPausedReceiver) };
  };
}
