import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SendPlanSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast.ts';
import type { Plan } from '../broadcast-row.ts';
import { askGlobalFeed, type FeedAsker, type GlobalFeed, readGlobalFeed } from '../feeds/global.ts';

/** Asks the global feed on every attempt to start, so that its data is no older than the start. */
export async function pinGlobalFeed(
  context: FeedAsker,
  broadcast: Broadcast,
): Promise<GlobalFeed | { error: string } | undefined> {
  const feed = broadcast.data_feed?.global_feed;
  return feed?.enabled ? askGlobalFeed(context, broadcast, feed) : undefined;
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
  key: BroadcastKey,
  plan: Plan,
): Promise<PlanFeeds> {
  return planFeeds(plan, plan.has_global_feed ? await readGlobalFeed(em, key) : '');
}

export function planFeeds({ recipient_feed: feed }: Plan, globalFeedJson: string): PlanFeeds {
  const headers = feed?.headers.map(({ name, sealed_value }) => ({
    name,
    sealedValue: sealed_value,
  }));
  return {
    globalFeedJson,
    ...(feed && headers ? { recipientFeed: { url: feed.url, headers } } : {}),
  };
}
