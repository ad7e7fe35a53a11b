import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { notRegistered, unregister } from '../reports/keys.ts';

/** An integration that is deleted can be unregistered, too. */
export function unregisterReports({ store }: Context): Methods['unregisterReports'] {
  return (place, call) =>
    auditedTransaction(store, call, async (em) => {
      if (!(await unregister(em, place))) throw notRegistered();
      return { success: true };
    });
}
