import { everyWorkspace, recordChange } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';

export function placeHold({ holds, store }: Context): Methods['placeHold'] {
  return async ({ reason }, call) => {
    await holds.placeHold({ reason });
    const details = { workspaceId: everyWorkspace, after: { reason } };
    await recordChange(store.fork(), call, details);
    return { success: true };
  };
}
