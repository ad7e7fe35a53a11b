import { Code, ConnectError } from '@connectrpc/connect';
import type { Plans } from './plans.ts';

/** For how many days a workspace keeps messages or contents; 0 for one that is deleted. */
export async function keptDays(
  plans: Pick<Plans, 'settings'>,
  workspaceId: string,
  setting: 'messageRetentionDays' | 'messageContentDays',
): Promise<number> {
  try {
    const { settings } = await plans.settings(workspaceId);
    return settings?.[setting] ?? 0;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return 0;
    throw error;
  }
}
