import type { Plans } from '../plans/plans.ts';
import { type ContentContext, readContent } from './store.ts';

const dayMs = 24 * 60 * 60 * 1_000;

export type KeptContext = ContentContext & { plans: Pick<Plans, 'settings'>; now: () => Date };

/** A mail as it was sent; undefined if the workspace does not keep it. */
export async function readKeptContent(
  context: KeptContext,
  key: { workspaceId: string; id: string },
) {
  const { settings } = await context.plans.settings(key.workspaceId);
  const days = settings?.messageContentDays ?? 0;
  if (days === 0) return undefined;
  const since = new Date(context.now().getTime() - days * dayMs);
  return readContent(context, key, since);
}
