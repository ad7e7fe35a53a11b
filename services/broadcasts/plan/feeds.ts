import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SendPlanSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { headerPlace } from '#lib/keys/places.ts';
import type { Header } from '#lib/outside/feed.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import type { Plan } from '../broadcast/row.ts';
import { askGlobalFeed, type FeedAsker, type GlobalFeed, readGlobalFeed } from '../feeds/global.ts';
import { openFeed } from '../feeds/headers.ts';

/** Asks the global feed on every attempt to start, so that its data is no older than the start. */
export async function pinGlobalFeed(
  context: FeedAsker,
  broadcast: Broadcast,
): Promise<GlobalFeed | { error: string } | undefined> {
  const feed = broadcast.data_feed?.global_feed;
  if (!feed?.enabled) return undefined;
  const key = { workspaceId: broadcast.workspace_id, id: broadcast.id, kind: 'global' } as const;
  return askGlobalFeed(context, broadcast, openFeed(context.keyring, key, feed));
}

/** The feeds as the plan stores them. */
export function pinnedFeeds(
  { data_feed }: Broadcast,
  global: GlobalFeed | undefined,
): Pick<Plan, 'has_global_feed' | 'recipient_feed'> {
  const { url = '', headers = [], enabled = false } = data_feed?.recipient_feed ?? {};
  return {
    has_global_feed: global !== undefined,
    ...(enabled ? { recipient_feed: { url, headers } } : {}),
  };
}

/** The feeds as the messages service expects them. */
export type PlanFeeds = Pick<
  MessageInitShape<typeof SendPlanSchema>,
  'globalFeedJson' | 'recipientFeed'
>;

export async function readPlanFeeds(
  em: EntityManager,
  { key, keyring }: { key: BroadcastKey; keyring: Keyring },
  plan: Plan,
): Promise<PlanFeeds> {
  const json = plan.has_global_feed ? await readGlobalFeed(em, key) : '';
  return planFeeds({ key, keyring }, plan, json);
}

/**
 * The secrets of the feed are sealed anew, so that messages opens those of this broadcast and of no
 * other.
 */
export function planFeeds(
  { key, keyring }: { key: BroadcastKey; keyring: Keyring },
  { recipient_feed: feed }: Plan,
  globalFeedJson: string,
): PlanFeeds {
  if (!feed) return { globalFeedJson };
  const { workspaceId, id } = key;
  const { url, headers } = openFeed(keyring, { ...key, kind: 'recipient' }, feed);
  const seal = ({ name, value }: Header) => ({
    name,
    sealedValue: keyring.letters.seal(value, headerPlace(workspaceId, id, name)),
  });
  return { globalFeedJson, recipientFeed: { url, headers: headers.map(seal) } };
}
