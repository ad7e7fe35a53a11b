import { type Client, Code, ConnectError } from '@connectrpc/connect';
import { LRUCache } from 'lru-cache';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createCache } from '#lib/cache.ts';

const entriesMax = 1_000;
/** No workspace has a longer id. */
const idLengthMax = 64;

/** Whether the public form of a workspace asks for a proof of work. */
export type WantsProof = (workspaceId: string) => Promise<boolean>;

/**
 * Cached for a second. Forms need workspaces for nothing else, so while it is away the last answer
 * holds.
 */
export function createWantsProof(
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>,
): WantsProof {
  const settings = createCache<boolean>({ entriesMax, keepMs: 1_000 });
  const last = new LRUCache<string, boolean>({ max: entriesMax });
  return async (workspaceId) => {
    if (workspaceId.length > idLengthMax) return false;
    try {
      const wanted = await settings(workspaceId, () => settingOf(workspaces, workspaceId));
      last.set(workspaceId, wanted);
      return wanted;
    } catch (error) {
      const known = last.get(workspaceId);
      if (known === undefined) throw error;
      return known;
    }
  };
}

/** A workspace that does not exist has no lists, which the caller must not learn from this. */
async function settingOf(
  workspaces: Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>,
  workspaceId: string,
): Promise<boolean> {
  try {
    const { settings } = await workspaces.getSettings({ workspaceId });
    return settings?.formProofOfWork ?? false;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return false;
    throw error;
  }
}
