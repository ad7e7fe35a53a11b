import { invalidField } from '#lib/errors/errors.ts';
import { reasonOf } from '#lib/errors/reasons.ts';
import type { Plans } from '../plans/plans.ts';

const idMax = 64;

/** Refuses an integration that is not there. Empty names none. */
export async function checkIntegration(
  plans: Pick<Plans, 'kindOf'>,
  at: string,
  { workspaceId, integrationId }: { workspaceId: string; integrationId: string },
): Promise<void> {
  if (integrationId === '') return;
  const isThere =
    integrationId.length <= idMax &&
    (await plans.kindOf(workspaceId, integrationId).then(
      () => true,
      (error: unknown) => {
        if (reasonOf(error) === 'INTEGRATION_NOT_FOUND') return false;
        throw error;
      },
    ));
  if (!isThere) throw invalidField(`${at}.integration_id`, 'integration not found');
}
