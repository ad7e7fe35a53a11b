import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { resume } from '../receivers/pauses.ts';

/** The integration may be deleted meanwhile. */
export function resumeReceiver({ store }: Context): Methods['resumeReceiver'] {
  return ({ workspaceId, integrationId, receiver }, call) =>
    auditedTransaction(store, call, async (em) => {
      await resume(em, { workspaceId, integrationId, receiver });
      return { success: true };
    });
}
