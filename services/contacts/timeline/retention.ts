import type { Context } from '../context.ts';

const daysDefault = 730;
const dayMs = 24 * 60 * 60 * 1_000;

/** Since when a workspace keeps what happened. */
export async function keptSince(
  { workspaces, now }: Pick<Context, 'workspaces' | 'now'>,
  workspaceId: string,
): Promise<Date> {
  const { settings } = await workspaces.getSettings({ workspaceId });
  const days = settings?.timelineRetentionDays ?? daysDefault;
  return new Date(now().getTime() - days * dayMs);
}
