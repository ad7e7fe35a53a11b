import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { notRegistered, unregister } from '../reports/keys.ts';
import { addSetUp } from '../reports/set-up.ts';

/** An integration that is deleted can be unregistered, too. */
export function unregisterReports({ store }: Context): Methods['unregisterReports'] {
  return ({ workspaceId, integrationId }, call) =>
    auditedTransaction(store, call, async (em) => {
      const place = { workspaceId, integrationId };
      const left = await unregister(em, place);
      if (!left) throw notRegistered();
      if (left === 'removing') await addSetUp(em, place);
      return { success: true };
    });
}
