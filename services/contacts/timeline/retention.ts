import type { Client } from '@connectrpc/connect';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';

type RetentionContext = {
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;
  now: () => Date;
};

const daysDefault = 730;
const dayMs = 24 * 60 * 60 * 1_000;

/** Since when a workspace keeps what happened. */
export async function keptSince(
  { workspaces, now }: RetentionContext,
  workspaceId: string,
): Promise<Date> {
  const { settings } = await workspaces.getSettings({ workspaceId });
  const days = settings?.timelineRetentionDays ?? daysDefault;
  return new Date(now().getTime() - days * dayMs);
}
