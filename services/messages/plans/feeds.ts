import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@bufbuild/protobuf';
import type { RecipientFeed, SendPlan } from '#gen/postrider/messages/v1/messages_pb.ts';
import { createCache } from '#lib/cache.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { headerPlace } from '#lib/keys/places.ts';
import { Shares } from '#lib/limits/shares.ts';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import type { Egress } from '#lib/outside/egress.ts';
import { askFeed, type Feed, type FeedAnswer } from '#lib/outside/feed.ts';
import type { Claimant } from '../record/claims.ts';

type BroadcastKey = { workspaceId: string; broadcastId: string };

/** The feeds of a batch. */
export type BatchFeeds = {
  /** Liquid's values that are the same for all. */
  values: LiquidScope;
  /** Called for each recipient, with `payload` and the contact. */
  recipient: { feed: Feed; payload: JsonObject } | undefined;
};

export const noFeeds: BatchFeeds = { values: {}, recipient: undefined };

export type Feeds = {
  /** Opens the headers of a broadcast's feed. */
  open(broadcast: BroadcastKey, feed: RecipientFeed): Feed;
  /** A pinned answer of a global feed, from its JSON text; parsed once and kept. */
  read(json: string): Promise<JsonObject>;
  /**
   * Calls the feed for as many recipients as a second allows, in order; the rest waits for the next
   * portion.
   */
  askSome(ask: Portion): Promise<Fed>;
};

export type Portion = {
  workspaceId: string;
  recipient: NonNullable<BatchFeeds['recipient']>;
  claimants: readonly Claimant[];
  contacts: ReadonlyMap<string, JsonObject>;
  stop: AbortSignal;
};

/** Answers by address; `outage` is the feed's error, or empty. */
export type Fed = { answers: Map<string, JsonObject>; outage: string };

/** From one batch; broadcasts send three batches at a time. */
const callsAtOnce = 5;
/** To all feeds; an answer has up to a megabyte. */
const callsAtOnceMax = 200;
const workspaceCallsMax = 20;
const askAgainMs = 50;
/**
 * Recipients with an answer are sent to before the next portion, so that a slow feed delays them
 * for a second at most.
 */
const portionMs = 1_000;
const portionMaxBytes = 4 * 1024 * 1024;
/** With 5 s for each of three calls, all end before the batch has to answer. */
const retryDelaysMs = [250, 500];

type Ways = { egress: Egress; places: Shares };

export function createFeeds({ egress, keyring }: { egress: Egress; keyring: Keyring }): Feeds {
  const ways = {
    egress,
    places: new Shares({ placesMax: callsAtOnceMax, tenantMax: workspaceCallsMax }),
  };
  const parsed = createCache<JsonObject>({ entriesMax: 16, keepMs: 10 * 60_000 });
  return {
    open: ({ workspaceId, broadcastId }, { url, headers }) => ({
      url,
      headers: headers.map(({ name, sealedValue }) => {
        const place = headerPlace(workspaceId, broadcastId, name);
        return { name, value: keyring.letters.open(sealedValue, place) };
      }),
    }),
    read: (json) =>
      parsed(createHash('sha256').update(json).digest('base64'), async () => JSON.parse(json)),
    askSome: (portion) => askSome(ways, portion),
  };
}

/** Liquid's values for a recipient: the same for all, and `recipient_feed`. */
export function feedValues({ values }: BatchFeeds, { answers }: Fed, email: string): LiquidScope {
  const answer = answers.get(email);
  return answer ? { ...values, recipient_feed: answer } : values;
}

/** The feeds of a broadcast's plan. */
export async function feedsOf(
  feeds: Feeds,
  { plan, ...broadcast }: BroadcastKey & { plan: SendPlan },
  subject: () => Promise<JsonObject>,
): Promise<BatchFeeds> {
  const { globalFeedJson, recipientFeed } = plan;
  const values = globalFeedJson ? { global_feed: await feeds.read(globalFeedJson) } : {};
  if (!recipientFeed) return { values, recipient: undefined };
  const feed = feeds.open(broadcast, recipientFeed);
  return { values, recipient: { feed, payload: await subject() } };
}

async function askSome(ways: Ways, portion: Portion): Promise<Fed> {
  const fed: Fed = { answers: new Map(), outage: '' };
  const broken = new AbortController();
  const signal = AbortSignal.any([portion.stop, broken.signal]);
  const untilMs = Date.now() + portionMs;
  const claimants = portion.claimants.values();
  let sizeBytes = 0;
  const isOver = () => signal.aborted || Date.now() > untilMs || sizeBytes > portionMaxBytes;
  const work = async () => {
    while (!isOver()) {
      if (!ways.places.take(portion.workspaceId)) {
        await sleep(askAgainMs, undefined, { signal }).catch(() => {});
        continue;
      }
      const { value: claimant } = claimants.next();
      if (!claimant) return ways.places.release(portion.workspaceId);
      const answer = await askPatiently(ways, portion, { email: claimant.email, signal }).finally(
        () => ways.places.release(portion.workspaceId),
      );
      if ('data' in answer) {
        fed.answers.set(claimant.email, answer.data);
        sizeBytes += answer.sizeBytes;
      } else if (!signal.aborted) {
        fed.outage = `recipient feed failed: ${answer.error}`;
        broken.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, work));
  return fed;
}

/** Retries after transient errors. */
async function askPatiently(
  ways: Ways,
  { workspaceId, recipient, contacts }: Portion,
  { email, signal }: { email: string; signal: AbortSignal },
): Promise<FeedAnswer> {
  const payload = { ...recipient.payload, contact: contactPayload(email, contacts) };
  const ask = () => askFeed(ways, recipient.feed, { workspaceId, payload, signal });
  for (const delayMs of retryDelaysMs) {
    const answer = await ask();
    if ('data' in answer || !answer.isRetryable || signal.aborted) return answer;
    await sleep(delayMs, undefined, { signal }).catch(() => {});
  }
  return ask();
}

/** Fields without a value are left out. */
function contactPayload(email: string, contacts: Portion['contacts']): JsonObject {
  const fields = Object.entries(contacts.get(email) ?? {});
  return { ...Object.fromEntries(fields.filter(([, value]) => value !== null)), email };
}
