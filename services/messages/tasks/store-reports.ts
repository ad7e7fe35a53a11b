import type { EntityManager } from '#lib/postgres/store.ts';
import { isAboutValues } from '#lib/postgres/until-stored.ts';
import type { Context } from '../context.ts';
import { countReports } from '../reports/metrics.ts';
import {
  addStoring,
  endRequests,
  hasRequests,
  lockRequests,
  openRequest,
  type WaitingRequest,
} from '../reports/requests.ts';
import { storeReports as store } from '../reports/store.ts';

/** Bounds a statement, and how long other workspaces wait for their turn. */
const groupMax = 500;
/** All reports of a group are in memory. */
const groupMaxBytes = 2 * 1_024 * 1_024;
/** After which requests are looked at again that another transaction holds. */
const heldMs = 1_000;

type Portion = { workspaceId: string; reportsMax: number };

/**
 * Stores the reports of a workspace's oldest requests. The others are for a job of their own,
 * behind those of other workspaces. One that fails is left aside; where the database refuses
 * values, the oldest alone is stored, or fails.
 */
export function storeReports(context: Context) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId } = payload as { workspaceId: string };
    const { reportPace, store } = context;
    const turn = reportPace.turn();
    if (turn) return addStoring(store.fork(), workspaceId, turn);
    const stored = await storeOldest(context, { workspaceId, reportsMax: groupMax }).catch(
      (error) => {
        if (!isAboutValues(error)) throw error;
        return storeOldest(context, { workspaceId, reportsMax: 1 });
      },
    );
    countReports(stored.filter(({ state }) => state !== 'received'));
  };
}

function storeOldest(context: Context, { workspaceId, reportsMax }: Portion) {
  const startedAtMs = Date.now();
  return context.store.fork().transactional(async (em) => {
    const bounds = { reportsMax, bytesMax: groupMaxBytes };
    const requests = await lockRequests(em, workspaceId, bounds);
    const stored = await storeEach(context, em, { workspaceId, requests });
    const [oldest] = requests;
    const waitedMs = oldest ? startedAtMs - oldest.receivedAt.getTime() : 0;
    context.reportPace.worked(Date.now() - startedAtMs, waitedMs);
    if (await hasRequests(em, workspaceId)) {
      const held = oldest ? undefined : new Date(Date.now() + heldMs);
      await addStoring(em, workspaceId, held ?? context.reportPace.nextAt());
    }
    return stored;
  });
}

async function storeEach(
  { keyring, log }: Context,
  em: EntityManager,
  { workspaceId, requests }: { workspaceId: string; requests: readonly WaitingRequest[] },
) {
  const failed: string[] = [];
  const opened = await Promise.all(
    requests.map((request) =>
      openRequest(keyring, request).catch((err) => {
        log.error({ err, workspaceId, request: request.id }, 'reports cannot be read');
        failed.push(request.id);
        return undefined;
      }),
    ),
  );
  const readable = opened.filter((each) => each !== undefined);
  const reports = await em
    .transactional((inner) => store(inner, keyring, { workspaceId, requests: readable }))
    .catch((err) => {
      // One alone is known to be the reason.
      if (!isAboutValues(err) || requests.length > 1) throw err;
      log.error({ err, workspaceId, request: requests[0]?.id }, 'reports cannot be stored');
      failed.push(...requests.map(({ id }) => id));
      return [];
    });
  const ids = requests.map(({ id }) => id);
  const stored = ids.filter((id) => !failed.includes(id));
  await endRequests(em, workspaceId, { stored, failed });
  return reports;
}
