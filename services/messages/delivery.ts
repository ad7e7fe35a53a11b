import type { Scope } from '#lib/liquid/engine.ts';
import { createTrackingTokens } from '#lib/tracking-token.ts';
import { type Claimed, type ClaimGroup, giveBack, leaseMs, renewLeases } from './claims.ts';
import type { Context } from './context.ts';
import { resultOf } from './fate.ts';
import { createTokenMaker } from './link-token.ts';
import type { MessageStatus } from './message.ts';
import { isSendable } from './mime/headers.ts';
import type { CompiledPlan } from './plans.ts';
import type { Prepared, Recipient } from './render/compose.ts';
import { ResultWriter } from './result-writer.ts';
import { type Outcome, outageOf } from './smtp/outcome.ts';
import type { Outgoing } from './smtp/outgoing.ts';
import type { SmtpPool } from './smtp/pool.ts';
import type { Variant } from './variants.ts';

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

export type Fate = { status: MessageStatus; unknown: number; info: string; dueAt?: Date };

export type Delivered = {
  /** What is in the record now; an id that is missing was not started. */
  fates: Map<string, Fate>;
  outage: string;
};

/** Clocks are compared as durations only; this covers what a process does between its look and its write. */
const leaseMarginMs = 2_000;
const renewEveryMs = 10_000;

/** Sends what was claimed and records every outcome. Nothing is started once `stop` is aborted. */
export async function deliver(context: Context, delivery: Delivery): Promise<Delivered> {
  const { group, plan } = delivery;
  const { pools, store, owner } = context;
  const broken = new AbortController();
  const signal = AbortSignal.any([delivery.stop, broken.signal]);
  const pool = pools.get(`${group.workspaceId} ${group.integrationId}`, plan.server);
  const drop = () => pool.dropAborted();
  signal.addEventListener('abort', drop);
  const writer = new ResultWriter(context, group, (error) => broken.abort(error));
  const work = new Work(context, { ...delivery, stop: signal }, writer);
  const renewing = setInterval(() => work.renew(), renewEveryMs);
  try {
    await work.sendAll(pool);
    await writer.end();
    await giveBack(store, owner, group.workspaceId, work.unsent);
  } finally {
    clearInterval(renewing);
    signal.removeEventListener('abort', drop);
  }
  return { fates: writer.fates, outage: work.outage };
}

/** A message with what it is made from. */
type Letter = { message: Claimed; variant: Variant; recipient: Recipient };

class Work {
  readonly unsent: string[] = [];
  outage = '';
  readonly #open = new Map<string, Outgoing>();
  readonly #context: Context;
  readonly #delivery: Delivery;
  readonly #writer: ResultWriter;
  readonly #tokenOf: ReturnType<typeof createTokenMaker>;
  readonly #trackOf: ReturnType<typeof createTrackingTokens>;

  constructor(context: Context, delivery: Delivery, writer: ResultWriter) {
    this.#context = context;
    this.#delivery = delivery;
    this.#writer = writer;
    this.#tokenOf = createTokenMaker(context.keyring);
    this.#trackOf = createTrackingTokens(context.keyring);
  }

  /** Resolves when each message is settled. */
  async sendAll(pool: SmtpPool): Promise<void> {
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

  renew(): void {
    const { group } = this.#delivery;
    const ids = [...this.#open.keys()];
    if (ids.length === 0) return;
    const fromMs = Date.now();
    renewLeases(this.#context.store, this.#context.owner, group.workspaceId, ids).then(
      (ours) => {
        for (const [id, outgoing] of this.#open) {
          if (ours.has(id)) outgoing.leaseUntilMs = fromMs + leaseMs - leaseMarginMs;
        }
      },
      // A lease that is not renewed ends, and the message with it; the next claim takes it up.
      () => undefined,
    );
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
