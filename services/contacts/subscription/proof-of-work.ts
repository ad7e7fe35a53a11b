import { type CallOptions, type Client, Code, ConnectError } from '@connectrpc/connect';
import type { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createCache } from '#lib/cache.ts';
import { LruMap } from '#lib/collections/lru-map.ts';

const entriesMax = 1_000;
/** Forms wait no longer for a newer answer than they have. */
const newerMaxMs = 1_000;
/** No workspace has a longer id. */
const idLengthMax = 64;

type Workspaces = Pick<Client<typeof WorkspaceDirectoryService>, 'getSettings'>;

/** Whether the public form of a workspace asks for a proof of work. */
export type WantsProof = (workspaceId: string) => Promise<boolean>;

/**
 * Cached for a second. Forms need workspaces for nothing else, so while it is away the last answer
 * holds. A workspace that does not exist has no lists, and the caller must not learn that.
 */
export function createWantsProof(workspaces: Workspaces): WantsProof {
  const settings = createCache<boolean | undefined>({ entriesMax, keepMs: 1_000 });
  const last = new LruMap<boolean>({ max: entriesMax });
  return async (workspaceId) => {
    if (workspaceId.length > idLengthMax) return false;
    const known = last.get(workspaceId);
    const call = known === undefined ? {} : { timeoutMs: newerMaxMs };
    try {
      const wanted = await settings(workspaceId, () => settingOf(workspaces, workspaceId, call));
      // Callers may invent workspaces, which must not take the room of others.
      if (wanted === undefined) last.delete(workspaceId);
      else last.set(workspaceId, wanted);
      return wanted ?? false;
    } catch (error) {
      if (known === undefined) throw error;
      return known;
    }
  };
}

/** Undefined for a workspace that does not exist. */
async function settingOf(
  workspaces: Workspaces,
  workspaceId: string,
  call: CallOptions,
): Promise<boolean | undefined> {
  try {
    const { settings } = await workspaces.getSettings({ workspaceId }, call);
    return settings?.formProofOfWork ?? false;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return undefined;
    throw error;
  }
}
