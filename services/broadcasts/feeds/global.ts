import type { JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Egress } from '#lib/outside/egress.ts';
import { askFeed, type Feed, feedSizeMaxBytes } from '#lib/outside/feed.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import type { Peers } from '../peers.ts';

/** The stored answer of a global feed. */
export type GlobalFeed = { data: JsonObject; json: string; fetchedAt: Date };

type Subject = Pick<Peers, 'lists' | 'workspaces'>;

/** The parts of the context that a call of a feed needs. */
export type FeedAsker = Subject & { egress: Egress; keyring: Keyring; now: () => Date };

/** Asks a global feed for a broadcast. */
export async function askGlobalFeed(
  context: FeedAsker,
  broadcast: Broadcast,
  feed: Feed,
): Promise<GlobalFeed | { error: string }> {
  const answer = await askFeed(context, feed, {
    workspaceId: broadcast.workspace_id,
    payload: await subjectOf(context, broadcast),
  });
  if ('error' in answer) return answer;
  const json = JSON.stringify(answer.data);
  // Serializing again can lengthen numbers, such as 1e20 and integers that are texts by now.
  if (Buffer.byteLength(json) > feedSizeMaxBytes) {
    return { error: 'invalid JSON response: longer than 1 MiB' };
  }
  return { data: answer.data, json, fetchedAt: answer.fetchedAt };
}

/**
 * The broadcast as it is described to feeds; a deleted list has no name, and a broadcast to
 * segments alone no list.
 */
export async function subjectOf(
  { lists, workspaces }: Subject,
  { workspace_id: workspaceId, id, name, audience }: Broadcast,
): Promise<JsonObject> {
  const [list, workspace] = await Promise.all([
    audience.list === '' ? '' : nameOf(lists.getList({ workspaceId, id: audience.list })),
    workspaces.getSettings({ workspaceId }),
  ]);
  return {
    broadcast: { id, name },
    list: audience.list === '' ? null : { id: audience.list, name: list },
    workspace: { id: workspaceId, name: workspace.name },
  };
}

async function nameOf(list: ReturnType<Peers['lists']['getList']>): Promise<string> {
  try {
    return (await list).list?.name ?? '';
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return '';
    throw error;
  }
}

/**
 * Stores the answer outside of the row, which is read far more often. The caller holds the lock of
 * the row.
 */
export async function saveGlobalFeed(
  em: EntityManager,
  broadcast: Broadcast,
  { json, fetchedAt }: GlobalFeed,
): Promise<void> {
  broadcast.global_feed_fetched_at = fetchedAt;
  await query(
    em,
    `insert into global_feeds (workspace_id, broadcast_id, json) values ($1, $2, $3)
     on conflict (workspace_id, broadcast_id) do update set json = excluded.json`,
    [broadcast.workspace_id, broadcast.id, json],
  );
}

/** The stored answer as JSON; empty if there is none. */
export async function readGlobalFeed(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
): Promise<string> {
  const [row] = await query<{ json: string }>(
    em,
    'select json from global_feeds where workspace_id = $1 and broadcast_id = $2',
    [workspaceId, id],
  );
  return row?.json ?? '';
}
