import { type Client, createClient } from '@connectrpc/connect';
import { WorkspaceDataService } from '#gen/postrider/events/v1/events_pb.ts';
import type { Log } from '#lib/log.ts';
import { type ErasedTable, erase } from '#lib/postgres/erase.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Base } from '#lib/process/run-service.ts';

export type DataService = Pick<Client<typeof WorkspaceDataService>, 'eraseWorkspace'>;
export type UsageCounter = Pick<Client<typeof WorkspaceDataService>, 'countUsage'>;

const ownName = 'workspaces';
const callTimeoutMs = 10_000;
/** Jobs count as lost after two minutes. */
const workMaxMs = 20_000;

/** The row of the workspace is the last to go, in the transaction that ends the deletion. */
const ownParts: readonly ErasedTable[] = [
  { table: 'members' },
  { table: 'invitations' },
  { table: 'integrations' },
  { table: 'domain_owners' },
  { table: 'dkim_keys' },
  { table: 'sending_domains' },
  { table: 'audit_entries' },
  { table: 'quota_notices' },
  { table: 'idempotency_keys' },
];

/** Clients of all services that keep data of workspaces. */
export function dataServicesOf({ peer, peerIfDeployed }: Pick<Base, 'peer' | 'peerIfDeployed'>) {
  const needed = ['broadcasts', 'messages', 'contacts', 'templates'];
  const webhooks = peerIfDeployed('webhooks');
  return Object.fromEntries([
    ...needed.map((name) => [name, createClient(WorkspaceDataService, peer(name))] as const),
    ...(webhooks ? [['webhooks', createClient(WorkspaceDataService, webhooks)] as const] : []),
  ]);
}

type Erasing = { store: Store; dataServices: Record<string, DataService>; log: Pick<Log, 'warn'> };

/** `readAtMs`: when the deletion was read. */
type Doomed = { workspaceId: string; readAtMs: number };

/**
 * Erases for a while in all services at once; returns the names of those that have something left
 * or did not answer. Calls nobody long after the deletion was read: by then another process may
 * have ended it, and the id may be another workspace's.
 */
export async function eraseEverywhere(
  { store, dataServices, log }: Erasing,
  { workspaceId, readAtMs }: Doomed,
): Promise<string[]> {
  const endsAtMs = readAtMs + workMaxMs;
  const own: DataService['eraseWorkspace'] = async () => {
    const { erased, left } = await erase(store, workspaceId, ownParts);
    const answer = { erased: BigInt(erased), left };
    return { $typeName: 'postrider.events.v1.EraseWorkspaceResponse', ...answer };
  };
  const all = Object.entries({ ...dataServices, [ownName]: { eraseWorkspace: own } });
  const left = all.map(async ([name, service]) => {
    try {
      return (await eraseAt(service, workspaceId, endsAtMs)) ? [] : [name];
    } catch (err) {
      log.warn({ err, workspaceId, service: name }, 'a workspace is not erased yet');
      return [name];
    }
  });
  return (await Promise.all(left)).flat();
}

/** Whether nothing is left. */
async function eraseAt(
  service: DataService,
  workspaceId: string,
  endsAtMs: number,
): Promise<boolean> {
  while (Date.now() < endsAtMs) {
    const { erased, left } = await service.eraseWorkspace(
      { workspaceId },
      { timeoutMs: callTimeoutMs },
    );
    if (left.length === 0) return true;
    // Rows that are left without progress are held by something that runs.
    if (erased === 0n) return false;
  }
  return false;
}
