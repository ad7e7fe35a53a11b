import type { EntityManager } from '#lib/postgres/store.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import { Broadcast, type BroadcastContent, type BroadcastKey } from '../broadcast/broadcast.ts';
import { newDraft, type StoredDataFeed } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';
import { readOutcomes } from '../variations/outcomes.ts';
import { broadcastMessage } from '../views/broadcast.ts';

type DraftContext = Pick<Peers, 'sender'> & {
  now: () => Date;
  quotas: Quotas;
  pageLinks: { urlOf: (key: BroadcastKey) => string | undefined };
};

type Draft = BroadcastContent & { data_feed: StoredDataFeed | null };

/** Writes a new draft in a transaction of the caller's, and answers it. */
export async function writeDraft(
  context: DraftContext,
  em: EntityManager,
  { workspaceId, id, draft }: BroadcastKey & { draft: Draft },
) {
  const { now, quotas, pageLinks } = context;
  quotas.requireRoom(workspaceId, 'broadcasts');
  if (draft.data_feed?.global_feed) quotas.requireRoom(workspaceId, 'feed_bytes');
  const at = now();
  const broadcast = em.create(Broadcast, {
    ...newDraft,
    ...draft,
    workspace_id: workspaceId,
    id,
    created_at: at,
    updated_at: at,
  });
  await em.flush();
  quotas.grew(workspaceId, 'broadcasts', 1);
  const outcomes = await readOutcomes(context, em, [broadcast]);
  return { broadcast: broadcastMessage(broadcast, { ...outcomes, pageUrlOf: pageLinks.urlOf }) };
}
