import type { Keyring } from '#lib/keys/keyring.ts';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import type { Scope } from '#lib/liquid/engine.ts';
import type { CompiledPlan } from '../content/plans.ts';
import type { Variant } from '../content/variants.ts';
import { createTokenMaker } from '../links/token.ts';
import type { Fate } from '../message.ts';
import { isSendable } from '../mime/headers.ts';
import type { Prepared } from '../mime/message.ts';
import { type Claimed, type ClaimGroup, leaseMs, renewLeases } from '../record/claims.ts';
import { giveBackUntilDone } from '../record/give-back.ts';
import { ResultWriter, type WriterContext } from '../record/result-writer.ts';
import type { Recipient } from '../render/compose.ts';
import { renderFailureInfo } from '../render/failure.ts';
import type { RenderThread } from '../render/thread.ts';
import { type Outcome, outageOf } from '../smtp/outcome.ts';
import type { Outgoing } from '../smtp/outgoing.ts';
import type { SmtpPool } from '../smtp/pool.ts';
import { resultOf } from './fate.ts';
import type { Pools } from './pools.ts';

export type DeliveryContext = WriterContext & {
  keyring: Keyring;
  now: () => Date;
  pools: Pools;
  thread: RenderThread;
};

/** One claim's worth of messages on their way. */
export type Delivery = {
  group: ClaimGroup;
  plan: CompiledPlan;
  claimed: readonly Claimed[];
  /** Values for Liquid by address. */
  contacts: ReadonlyMap<string, Record<string, unknown>>;
  /** What Liquid reads of feeds, by address. */
  feedsOf: (email: string) => Scope;
  /** The local clock before the claim. */
  claimedAtMs: number;
  stop: AbortSignal;
};

/** Clocks are compared as durations only; this covers what a process does between its look and its write. */
const leaseMarginMs = 2_000;
/** Most of a lease is left whenever the database goes away. */
const renewEveryMs = 5_000;
const renewTickMs = 1_000;

/** A message with what it is made from. */
type Letter = { message: Claimed; variant: Variant; recipient: Recipient };

/**
 * Sends a claim's messages and records every outcome. Nothing is started once `stop` is aborted; what has begun goes
 * on when the call that began it is over.
 */
export class DeliveryRun {
  /** Recorded outcomes by id; a message that is missing was not started, or has no answer yet. */
  readonly fates: ReadonlyMap<string, Fate>;
  /** Messages that were not started. */
  readonly unsent: string[] = [];
  outage = '';
  /** Resolves when every message's outcome is recorded. */
  readonly done: Promise<void>;
  #isRenewing = false;
  #renewedAtMs: number;
  readonly #open = new Map<string, Outgoing>();
  readonly #context: DeliveryContext;
  readonly #delivery: Delivery;
  readonly #writer: ResultWriter;
  readonly #tokenOf: ReturnType<typeof createTokenMaker>;
  readonly #trackOf: ReturnType<typeof createTrackingTokens>;

  constructor(context: DeliveryContext, delivery: Delivery) {
    const { group, plan } = delivery;
    this.#context = context;
    this.#delivery = delivery;
    this.#renewedAtMs = delivery.claimedAtMs;
    this.#writer = new ResultWriter(context, group);
    this.fates = this.#writer.fates;
    this.#tokenOf = createTokenMaker(context.keyring);
    this.#trackOf = createTrackingTokens(context.keyring);
    this.done = this.#run(
      context.pools.get(`${group.workspaceId} ${group.integrationId}`, plan.server),
    );
  }

  async #run(pool: SmtpPool): Promise<void> {
    const { stop } = this.#delivery;
    const drop = () => pool.dropAborted();
    stop.addEventListener('abort', drop);
    const renewing = setInterval(() => this.#renew(), renewTickMs);
    try {
      await this.#sendAll(pool);
    } catch (error) {
      // Only what comes before the first message is handed over can fail for all.
      this.unsent.push(...this.#delivery.claimed.map(({ id }) => id));
      throw error;
    } finally {
      stop.removeEventListener('abort', drop);
      await this.#writer.end();
      await giveBackUntilDone(this.#context, this.#delivery.group, this.unsent);
      clearInterval(renewing);
    }
  }

  /** Resolves when each message is settled. */
  async #sendAll(pool: SmtpPool): Promise<void> {
    const letters = this.#delivery.claimed.map((message) => this.#letter(message));
    const { slow = [], quick = [] } = Object.groupBy(letters, ({ variant }) =>
      variant.program.slow ? 'slow' : 'quick',
    );
    await Promise.all([this.#sendQuickly(pool, quick), this.#sendSlowly(pool, slow)]);
  }

  #sendQuickly(pool: SmtpPool, letters: readonly Letter[]): Promise<unknown> {
    const jobs = letters.map((letter) => {
      const { variant, recipient } = letter;
      return this.#job(letter, () => variant.program.prepare(recipient));
    });
    pool.send(jobs.flatMap(({ outgoing }) => outgoing ?? []));
    return Promise.all(jobs.map(({ done }) => done));
  }

  /** One after the other in the thread; each goes out as soon as it is rendered. */
  async #sendSlowly(pool: SmtpPool, letters: readonly Letter[]): Promise<void> {
    const { stop } = this.#delivery;
    const sending: Promise<unknown>[] = [];
    for (const letter of letters) {
      const prepare = stop.aborted ? unreachable : await this.#renderSlowly(letter);
      const { outgoing, done } = this.#job(letter, prepare);
      if (outgoing) pool.send([outgoing]);
      sending.push(done);
    }
    await Promise.all(sending);
  }

  async #renderSlowly({ variant: { program }, recipient }: Letter): Promise<() => Prepared> {
    if (!program.slow) return unreachable;
    try {
      const parts = await this.#context.thread.render(program.slow, program.scope(recipient));
      return () => program.compose(recipient, parts);
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }

  /** Keeps what is not in the record yet in our hands. */
  #renew(): void {
    const fromMs = Date.now();
    if (this.#isRenewing || fromMs < this.#renewedAtMs + renewEveryMs) return;
    const { outcomes, owner } = this.#context;
    const ids = [...this.#open.keys(), ...this.#writer.unstored];
    if (ids.length === 0) return;
    this.#isRenewing = true;
    renewLeases(outcomes, owner, this.#delivery.group.workspaceId, ids)
      .then(
        (ours) => {
          this.#renewedAtMs = fromMs;
          for (const [id, outgoing] of this.#open) {
            if (ours.has(id)) outgoing.leaseUntilMs = fromMs + leaseMs - leaseMarginMs;
          }
        },
        // The next tick tries again; a lease that ends all the same lets nothing more be started.
        () => undefined,
      )
      .finally(() => {
        this.#isRenewing = false;
      });
  }

  #letter(message: Claimed): Letter {
    const { id, email } = message;
    const { plan, group, contacts, feedsOf } = this.#delivery;
    const contact = contacts.get(email) ?? {};
    const variant = plan.variantFor(contact);
    const token = this.#tokenOf(group.workspaceId, id);
    const recipient = {
      messageId: id,
      email,
      contact,
      feeds: feedsOf(email),
      urls: {
        unsubscribe: `${plan.baseUrl}/u/${group.workspaceId}/${token}`,
        preferences: `${plan.baseUrl}/p/${group.workspaceId}/${token}`,
        confirm: `${plan.baseUrl}/c/${group.workspaceId}/${token}`,
      },
      trackingToken: variant.linkSet ? this.#trackOf(group.workspaceId, id, variant.linkSet) : '',
    };
    return { message, variant, recipient };
  }

  #job(
    { message, variant }: Letter,
    prepare: () => Prepared,
  ): { outgoing?: Outgoing; done: Promise<void> } {
    const { claimedAtMs, stop } = this.#delivery;
    const settled = Promise.withResolvers<void>();
    const settle = (outcome: Outcome) => {
      this.#open.delete(message.id);
      this.#settle(message, outcome);
      settled.resolve();
    };
    if (!isSendable(message.email)) {
      settle({
        kind: 'failed',
        code: 0,
        enhanced: '',
        info: 'the address has characters that the server can not take',
      });
      return { done: settled.promise };
    }
    const outgoing: Outgoing = {
      from: variant.from,
      to: message.email,
      leaseUntilMs: claimedAtMs + leaseMs - leaseMarginMs,
      signal: stop,
      prepare,
      failureInfo: renderFailureInfo,
      settle,
      lost: 0,
    };
    this.#open.set(message.id, outgoing);
    return { outgoing, done: settled.promise };
  }

  #settle(message: Claimed, outcome: Outcome): void {
    this.outage = outageOf(outcome) ?? this.outage;
    const { unknownRetries } = this.#delivery.plan;
    const result = resultOf(message, outcome, { now: this.#context.now(), unknownRetries });
    if (result) this.#writer.add(result, message.unknown);
    else this.unsent.push(message.id);
  }
}

function unreachable(): never {
  throw new Error('the message was stopped before it was rendered');
}
