import type { SuppressionInput } from '#gen/postrider/messages/v1/suppressions_pb.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { readSuppression, type SuppressionRow, strongest } from '../suppressions/input.ts';
import { writeSuppressions } from '../suppressions/store.ts';

export function importSuppressions({ store, quotas }: Context): Methods['importSuppressions'] {
  return async ({ workspaceId, suppressions }, call) => {
    quotas.requireRoom(workspaceId, 'suppressions');
    const checked = await mapInTurns(suppressions, checkSuppression);
    const rows = strongest(checked.flatMap(({ row, error }) => (error === undefined ? [row] : [])));
    return auditedTransaction(store, call, async (em) => {
      const written = await writeSuppressions(em, workspaceId, rows);
      quotas.grew(workspaceId, 'suppressions', written.filter(({ is_new }) => is_new).length);
      const actions = new Map(
        written.map(({ email, is_new }) => [email, is_new ? 'create' : 'update']),
      );
      return { operations: checked.map((each) => operationOf(each, actions)) };
    });
  };
}

type CheckedSuppression = { row: SuppressionRow; error: string | undefined };

function checkSuppression(given: SuppressionInput): CheckedSuppression {
  const { row, fault } = readSuppression(given);
  // The gateway could not read a row with an error; what it could read is incomplete.
  return { row, error: given.rowError || fault?.description };
}

/** The first row of an address is answered with what was done; later ones find it done. */
function operationOf({ row: { email }, error }: CheckedSuppression, actions: Map<string, string>) {
  if (error !== undefined) return { email, action: 'error', error };
  const action = actions.get(email) ?? 'keep';
  actions.delete(email);
  return { email, action };
}
