import { invalidFields } from '#lib/errors/errors.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { readSuppression } from '../suppressions/input.ts';
import { findSuppression, writeSuppressions } from '../suppressions/store.ts';
import { toSuppression } from '../views/suppression.ts';

export function addSuppression({ store, quotas }: Context): Methods['addSuppression'] {
  return (request, call) => {
    const { workspaceId } = request;
    const { row, fault } = readSuppression(request);
    if (fault) throw invalidFields([fault]);
    quotas.requireRoom(workspaceId, 'suppressions');
    return auditedTransaction(store, call, async (em) => {
      const [written] = await writeSuppressions(em, workspaceId, [row]);
      if (written?.is_new) quotas.grew(workspaceId, 'suppressions', 1);
      const entry = written ?? (await findSuppression(em, workspaceId, row.email));
      return { suppression: entry && toSuppression(entry) };
    });
  };
}
