/*
 * Pacing by the receiver: whether messages of an integration that delivers directly may go out now.
 *
 * Order of a batch: `directory.ts` finds the group of each recipient (DNS, half a second at most),
 * `permits.ts` draws for all groups at once, `gates.ts` limits how many of a group are under way. A
 * message without a permit has a turn: a time to which its caller puts it off, in the order of the
 * queue of its group, spread over at most an hour. It takes no room of a lane meanwhile.
 *
 * A reply that asks for less mail (`throttling.ts`) lowers the rate of its group in its row, for
 * all replicas; the row has when it rises again.
 *
 * A group that an owner has paused (`pauses.ts`) gets no permits; its messages have turns until the
 * pause ends.
 *
 * Limits: 50,000 domains and 10,000 groups are kept in a process, whichever workspace they are of;
 * an integration has rows of 2,000 groups that no table names, and the others share one row, which
 * no reply slows. Nothing of this is asked for other integrations.
 */

import type { WarmUp } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { LruMap } from '#lib/collections/lru-map.ts';
import { type DayLimit, todayOf } from '../admission/warm-up.ts';
import { domainOf } from '../mime/headers.ts';
import { infoLength, type SendOutcome } from '../providers/outcome.ts';
import { type LookUpMailHosts, ReceiverDirectory } from './directory.ts';
import { type DeliverySender, Gates } from './gates.ts';
import { countPaced, countThrottled } from './metrics.ts';
import { pauseReader } from './pauses.ts';
import { type PermitsContext, ReceiverPermits } from './permits.ts';
import type { IntegrationKey, ReceiverGrant } from './rate.ts';
import { throttledMinutes } from './throttling.ts';
import { waitsForPause, waitsForRate } from './words.ts';

type Addressed = readonly [id: string, email: string];

/** Messages that one call would send now. */
export type PacedBatch = {
  key: IntegrationKey;
  /** The process that sends. */
  owner: string;
  open: readonly Addressed[];
  /** Single and transactional mail, which comes before bulk. */
  isUrgent: boolean;
  warmUp: WarmUp | undefined;
  now: Date;
};

/** A message that has to wait for its receiver, and why. */
export type Turn = { id: string; email: string; dueAt: Date; info: string };

/** Messages that may be sent, each with a permit of its group. */
export type Permitted = {
  key: IntegrationKey;
  /** The group by message. */
  receivers: ReadonlyMap<string, string>;
  /** The day that the permits are of, by group. */
  dates: ReadonlyMap<string, string>;
};

const slowedMax = 10_000;
/** While an integration warms up, a group gets this share of a day's limit at most. */
const warmUpShare = 1 / 2;

export class Pacing {
  readonly #context: PermitsContext;
  readonly #directory: ReceiverDirectory;
  readonly #permits: ReceiverPermits;
  readonly #gates = new Gates();
  readonly #pausesOf: ReturnType<typeof pauseReader>;
  /** Rates that are being lowered. */
  readonly #slowing = new Set<Promise<void>>();
  /**
   * When this process lowered a rate last; infinite while it does. Replies to mails from before say
   * nothing more, and a thousand may come at once.
   */
  readonly #slowedAtMs = new LruMap<number>({ max: slowedMax });

  constructor(context: PermitsContext & { lookUp: LookUpMailHosts }) {
    this.#context = context;
    this.#directory = new ReceiverDirectory(context.lookUp);
    this.#permits = new ReceiverPermits(context);
    this.#pausesOf = pauseReader(context.store);
  }

  /** Splits a batch into messages that may go now and those that wait, in the batch's order. */
  async split(
    batch: PacedBatch,
  ): Promise<{ free: Addressed[]; waiting: Turn[]; permitted: Permitted }> {
    const { key, owner, open, isUrgent } = batch;
    const domains = new Set(open.map(([, email]) => domainOf(email)));
    const groups = await this.#directory.groupsOf(key.workspaceId, domains);
    const byReceiver = Map.groupBy(open, ([, email]) => {
      const domain = domainOf(email);
      return groups.get(domain) ?? domain;
    });
    const pauses = await this.#pausesOf(key);
    // One that was read before its end may be over, and its mail would be put off to a time past.
    const pauseEndOf = (receiver: string) => {
      const endsAt = pauses.get(receiver);
      return endsAt && endsAt > batch.now ? endsAt : undefined;
    };
    const wanted = new Map(
      [...byReceiver]
        .filter(([receiver]) => !pauseEndOf(receiver))
        .map(([receiver, { length }]) => [receiver, length]),
    );
    const today = dayOf(batch);
    const grants = await this.#permits.take(key, wanted, { owner, isUrgent, today });
    const receivers = new Map<string, string>();
    const dates = new Map<string, string>();
    const waiting: Turn[] = [];
    for (const [receiver, messages] of byReceiver) {
      const endsAt = pauseEndOf(receiver);
      if (endsAt) waiting.push(...this.#turnsOfPaused(messages, { receiver, endsAt, batch }));
      const grant = grants.get(receiver);
      if (!grant) continue;
      const room = this.#gates.roomOf(gateOf(key, receiver), this.#permits.atOnce(key, receiver));
      const count = Math.min(grant.count, room);
      const { date } = grant;
      this.#permits.giveBack({ ...key, receiver }, { count: grant.count - count, date });
      dates.set(receiver, date);
      for (const [id] of messages.slice(0, count)) receivers.set(id, receiver);
      const rest = messages.slice(count);
      if (rest.length === 0) continue;
      countPaced(receiver, rest.length);
      waiting.push(...this.#turnsOf(rest, { grant, today, batch }));
    }
    const free = open.filter(([id]) => receivers.has(id));
    return { free, waiting, permitted: { key, receivers, dates } };
  }

  /** Permits of messages that were not begun are there for others. */
  giveBack({ key, receivers, dates }: Permitted, ids: Iterable<string>): void {
    const counts = new Map<string, number>();
    for (const id of ids) {
      const receiver = receivers.get(id);
      if (receiver !== undefined) counts.set(receiver, (counts.get(receiver) ?? 0) + 1);
    }
    for (const [receiver, count] of counts) {
      const date = dates.get(receiver);
      if (date !== undefined) this.#permits.giveBack({ ...key, receiver }, { count, date });
    }
  }

  /** The sender behind the gates of its messages' groups, which hears what receivers reply. */
  before(sender: DeliverySender, { key, receivers }: Permitted): DeliverySender {
    return this.#gates.before(sender, (id) => {
      const receiver = receivers.get(id);
      if (receiver === undefined) return undefined;
      return {
        name: gateOf(key, receiver),
        atOnce: () => this.#permits.atOnce(key, receiver),
        answered: (outcome, begunMsAgo) =>
          this.#answered({ ...key, receiver }, outcome, begunMsAgo),
      };
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#slowing);
    await this.#permits.close();
  }

  #answered(
    key: IntegrationKey & { receiver: string },
    outcome: SendOutcome,
    begunMsAgo: number,
  ): void {
    const minutes = outcome.kind === 'deferred' ? throttledMinutes(outcome.info) : undefined;
    if (minutes === undefined) return;
    const begunAtMs = performance.now() - begunMsAgo;
    if (begunAtMs < (this.#slowedAtMs.get(gateOf(key, key.receiver)) ?? 0)) return;
    const slowing = this.#slow(key, minutes, begunMsAgo).finally(() =>
      this.#slowing.delete(slowing),
    );
    this.#slowing.add(slowing);
  }

  async #slow(
    key: IntegrationKey & { receiver: string },
    minutes: number,
    begunMsAgo: number,
  ): Promise<void> {
    const { log } = this.#context;
    const name = gateOf(key, key.receiver);
    const begunAtMs = performance.now() - begunMsAgo;
    this.#slowedAtMs.set(name, Number.POSITIVE_INFINITY);
    try {
      const isSlower = await this.#permits.slow(key, { minutes, begunMsAgo });
      // Another process may have lowered it since the mail was begun.
      this.#slowedAtMs.set(name, isSlower ? performance.now() : begunAtMs);
      if (!isSlower) return;
      countThrottled(key.receiver);
      log.warn({ ...key, minutes }, 'a receiver asks for less mail; its rate is a tenth for now');
    } catch (err) {
      // The next reply says it again.
      this.#slowedAtMs.delete(name);
      log.warn({ err, ...key }, 'the rate of a receiver could not be lowered');
    }
  }

  /** A pause may end before its time, so that its mail is looked at again within an hour. */
  #turnsOfPaused(
    messages: readonly Addressed[],
    { receiver, endsAt, batch }: { receiver: string; endsAt: Date; batch: PacedBatch },
  ): Turn[] {
    const { horizonMs, waveMs } = this.#permits.times;
    const info = waitsForPause(receiver, endsAt);
    countPaced(receiver, messages.length);
    return messages.map(([id, email]) => {
      const lookAtMs = batch.now.getTime() + horizonMs * (1 + Math.random()) * 0.5;
      const atMs = Math.ceil(lookAtMs / waveMs) * waveMs;
      return { id, email, dueAt: new Date(Math.min(atMs, endsAt.getTime())), info };
    });
  }

  #turnsOf(
    messages: readonly Addressed[],
    {
      grant,
      today,
      batch: { now, isUrgent },
    }: { grant: ReceiverGrant; today: DayLimit; batch: PacedBatch },
  ): Turn[] {
    const { horizonMs, waveMs } = this.#permits.times;
    const { fromMs, untilMs } = grant.turns;
    const info = reasonOf(grant, today);
    return messages.map(([id, email], place) => {
      const inOrder = fromMs + ((untilMs - fromMs) * (place + 1)) / messages.length;
      const inMs = untilMs > horizonMs ? horizonMs * (1 + Math.random()) * 0.5 : inOrder;
      const atMs = grant.isDaySpent
        ? today.endsAt.getTime() + horizonMs * Math.random()
        : now.getTime() + inMs;
      // Bulk mail comes back in groups: each look at a part of a broadcast reads all of it.
      const dueAt = new Date(isUrgent ? atMs : Math.ceil(atMs / waveMs) * waveMs);
      return { id, email, dueAt, info };
    });
  }
}

/** The day with the limit of a group. */
function dayOf({ warmUp, now }: PacedBatch): DayLimit {
  const today = todayOf(warmUp, now);
  const { limit } = today;
  return { ...today, limit: limit === undefined ? undefined : Math.ceil(limit * warmUpShare) };
}

function reasonOf({ group, isDaySpent, isSlowed }: ReceiverGrant, today: DayLimit) {
  if (!isDaySpent) return waitsForRate(group, isSlowed);
  const why = `warm-up limit of ${today.limit} messages a day to ${group} reached`;
  return why.slice(0, infoLength);
}

function gateOf({ workspaceId, integrationId }: IntegrationKey, receiver: string): string {
  return `${workspaceId} ${integrationId} ${receiver}`;
}
