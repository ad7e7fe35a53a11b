import { addressFault, canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { rememberLifted } from '../suppressions/lifted.ts';

export function removeSuppression({ store }: Context): Methods['removeSuppression'] {
  return async ({ workspaceId, email, reason }, call) => {
    const address = canonicalAddress(email);
    if (!address) throw invalidField('email', addressFault(email));
    await store.fork().transactional(async (em) => {
      const [gone] = await query<{ reason: string }>(
        em,
        'delete from suppressions where workspace_id = $1 and email = $2 returning reason',
        [workspaceId, address],
      );
      if (!gone) throw refusal('SUPPRESSION_NOT_FOUND', 'Suppression not found');
      await rememberLifted(em, workspaceId, address);
      const changes = { before: { suppressed_as: gone.reason }, after: { reason } };
      await recordChange(em, call, changes);
    });
    return { success: true };
  };
}
