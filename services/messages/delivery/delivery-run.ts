/*
 * A run: the messages of one claim, from their rows to their outcomes in the record.
 *
 * Order per message: letter (variant, links, tokens), Liquid, the sender's queue, writing once
 * there is room, journal, body, outcome, `fate.ts`, recorder. Templates that may run long are
 * rendered in a thread first, one after the other; so are mails whose structure is not compiled
 * yet.
 *
 * Each message ends in one of two ways: its outcome is recorded, or its claim is given back
 * (`unsent`). `done` resolves when all have. A call that ends earlier changes nothing: a run
 * belongs to the process.
 *
 * Limits: nothing is begun after `startsUntilMs`, after `stop`, or beyond the lease.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { ReturnPaths } from '#lib/keys/return-path.ts';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import { ThreadBusyError } from '#lib/killable-thread.ts';
import { LoopTurn, mapInTurns } from '#lib/limits/turns.ts';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import { keepTrace } from '#lib/telemetry/tracing.ts';
import type { ContentKeeper } from '../archive/keeper.ts';
import { UnderwayContents } from '../archive/underway.ts';
import type { Signing } from '../dkim/signing.ts';
import { createTokenMaker } from '../links/token.ts';
import type { Fate } from '../message.ts';
import { isSendable } from '../mime/headers.ts';
import type { CompiledPlan } from '../plans/plans.ts';
import type { Variant } from '../plans/variants.ts';
import { outageOf, type SendOutcome } from '../providers/outcome.ts';
import type { Outgoing } from '../providers/outgoing.ts';
import type { DeliverySender } from '../receivers/gates.ts';
import type { ClaimedMessage, ClaimGroup } from '../record/claims.ts';
import { type GiveBackContext, giveBackUntilDone } from '../record/give-back.ts';
import type { Journal } from '../record/journal.ts';
import type { ResultRecorder } from '../record/recorder.ts';
import type { MailOptions, MailRecipient } from '../render/compose.ts';
import { renderFailureInfo } from '../render/failure.ts';
import type { SlowText } from '../render/overrides.ts';
import { type OwnContent, ownProgram } from '../render/own-program.ts';
import type { Program, WriteMail } from '../render/program.ts';
import type { RenderThread } from '../render/thread.ts';
import { resultOf } from './fate.ts';
import { countMessage } from './metrics.ts';
import { noted } from './noted.ts';
import { hasSlowText, withSlowTexts } from './slow-texts.ts';
import type { Underway } from './underway.ts';

export type DeliveryContext = GiveBackContext & {
  recorder: ResultRecorder;
  underway: Underway;
  /** Absent where the process has no disk of its own. */
  journal: Journal | undefined;
  keyring: Keyring;
  /** Absent where nothing that comes back is taken. */
  returnPaths: ReturnPaths | undefined;
  signing: Signing;
  now: () => Date;
  thread: RenderThread;
  contents: ContentKeeper;
};

/** Content of one message beside its template and its contact. */
export type Extras = {
  /** Values at Liquid's top level. */
  data: LiquidScope;
  options: MailOptions;
  /** In place of the template. */
  own?: OwnContent;
  /** In place of the contact's own values. */
  contact?: LiquidScope;
  /** Further recipients. */
  copies: readonly string[];
  /** The message is not begun after this, in Unix milliseconds. */
  expiresAtMs?: number | undefined;
};

/** One claim's worth of messages on their way. */
export type Delivery = {
  group: ClaimGroup;
  plan: CompiledPlan;
  claimed: readonly ClaimedMessage[];
  /** Values for Liquid by address. */
  contacts: ReadonlyMap<string, Record<string, unknown>>;
  /** Values of feeds for Liquid, by address. */
  feedsOf: (email: string) => LiquidScope;
  /** By id; none of broadcasts' messages has any. */
  extras?: ReadonlyMap<string, Extras> | undefined;
  /** Whether they go out before what waits for a connection. */
  isUrgent: boolean;
  sender: DeliverySender;
  /** No message is begun after this; consent is too old by then. */
  startsUntilMs: number;
  stop: AbortSignal;
};

/** A message for which the thread has no room waits so long before it is given back. */
const busyMs = 1_000;
/** Messages that were not started are given back together. */
const giveBackAfterMs = 20;

/** A message with what it is made from. */
type Letter = {
  message: ClaimedMessage;
  variant: Variant;
  /** The variant's, unless the mail has content of its own. */
  program: Program;
  recipient: MailRecipient;
  copies: readonly string[];
};

const noCopies: readonly string[] = [];

/**
 * Sends a claim's messages and records every outcome. Nothing is started once `stop` is aborted;
 * what has begun goes on when the call that began it is over.
 */
export class DeliveryRun {
  readonly #fates = new Map<string, Fate>();
  /** Messages that were not started. */
  readonly unsent: string[] = [];
  outage = '';
  /** Whether the provider took a message. */
  hasSent = false;
  /** Resolves when every message's outcome is recorded, or its claim given back. */
  readonly done: Promise<void>;
  readonly #done = Promise.withResolvers<void>();
  /** Messages neither recorded nor given back. */
  #left: number;
  /** Messages whose claim is to be given back. */
  #toGiveBack: string[] = [];
  readonly #context: DeliveryContext;
  readonly #delivery: Delivery;
  /** Absent where the workspace keeps no contents. */
  readonly #contents: UnderwayContents | undefined;
  readonly #tokenOf: ReturnType<typeof createTokenMaker>;
  readonly #webTokenOf: ReturnType<typeof createTokenMaker>;
  /** Outcomes come by connections of other traces. */
  readonly #inTrace = keepTrace();
  readonly #trackOf: ReturnType<typeof createTrackingTokens>;

  constructor(context: DeliveryContext, delivery: Delivery) {
    this.#context = context;
    this.#delivery = delivery;
    const { plan, group } = delivery;
    if (plan.keepsContents) {
      this.#contents = new UnderwayContents(context.contents, group.workspaceId);
    }
    this.#left = delivery.claimed.length;
    this.#tokenOf = createTokenMaker(context.keyring);
    this.#webTokenOf = createTokenMaker(context.keyring, 'see');
    this.#trackOf = createTrackingTokens(context.keyring);
    const { sender, stop } = delivery;
    const drop = () => sender.dropOver();
    stop.addEventListener('abort', drop);
    this.done = this.#done.promise.finally(() => stop.removeEventListener('abort', drop));
    this.#start(sender).catch((error: unknown) => this.#done.reject(error));
  }

  /** The messages of the claim. */
  get ids(): string[] {
    return this.#delivery.claimed.map(({ id }) => id);
  }

  /** Recorded outcomes by id; a message that is missing was not started, or has no answer yet. */
  get fates(): ReadonlyMap<string, Fate> {
    return this.#fates;
  }

  async #start(sender: DeliverySender): Promise<void> {
    let letters: Letter[];
    try {
      letters = await mapInTurns(this.#delivery.claimed, (message) => this.#letter(message));
    } catch (error) {
      // Nothing has been handed over yet.
      for (const { id } of this.#delivery.claimed) this.#giveBack(id);
      throw error;
    }
    const slow: Letter[] = [];
    const quick: [Letter, WriteMail][] = [];
    const turn = new LoopTurn();
    for (const letter of letters) {
      if (turn.isOver) {
        this.#sendQuickly(sender, quick.splice(0));
        await turn.next();
      }
      const prepare = prepareQuickly(letter);
      if (prepare) quick.push([letter, prepare]);
      else slow.push(letter);
    }
    this.#sendQuickly(sender, quick);
    await this.#sendSlowly(sender, slow);
  }

  #sendQuickly(sender: DeliverySender, letters: readonly [Letter, WriteMail][]): void {
    const jobs = letters.map(([letter, prepare]) => this.#outgoing(letter, prepare));
    const { isUrgent } = this.#delivery;
    sender.send(
      jobs.flatMap((outgoing) => outgoing ?? []),
      { isUrgent },
    );
  }

  /** One after the other in the thread; each goes out as soon as it is rendered. */
  async #sendSlowly(sender: DeliverySender, letters: readonly Letter[]): Promise<void> {
    const { stop, startsUntilMs, isUrgent } = this.#delivery;
    for (const letter of letters) {
      const isOver = stop.aborted || Date.now() >= startsUntilMs;
      const prepare = isOver ? unreachable : await this.#renderSlowly(letter);
      const outgoing = prepare && this.#outgoing(letter, prepare);
      if (outgoing) sender.send([outgoing], { isUrgent });
      if (!prepare) {
        // It is claimed again at once.
        await sleep(busyMs);
        this.#giveBack(letter.message.id);
      }
    }
  }

  /** Undefined where the thread has no room. */
  async #renderSlowly({ program, recipient: given }: Letter): Promise<WriteMail | undefined> {
    const { thread } = this.#context;
    try {
      const { workspaceId } = this.#delivery.group;
      const render = (text: SlowText, scope: LiquidScope) => thread.text(text, scope, workspaceId);
      const recipient = await withSlowTexts(render, given, program.scope);
      if (program.slow) {
        const parts = await thread.render(program.slow, program.scope(recipient), workspaceId);
        return () => program.compose(recipient, parts);
      }
      if (program.finish) {
        return await program.finish(recipient, (request) => thread.track(request, workspaceId));
      }
      return await program.draftAndCompile(recipient, (request) =>
        thread.compile(request, workspaceId),
      );
    } catch (error) {
      if (error instanceof ThreadBusyError) return undefined;
      return () => {
        throw error;
      };
    }
  }

  #letter(message: ClaimedMessage): Letter {
    const { id, email } = message;
    const { plan, group, contacts, feedsOf, extras } = this.#delivery;
    const extra = extras?.get(id);
    const contact = extra?.contact ?? contacts.get(email) ?? {};
    const variant = plan.variantFor(contact);
    const token = this.#tokenOf(group.workspaceId, id);
    // A mail with texts of its own may read it in these.
    const readsWebVersion = plan.keepsContents && (variant.program.readsWebVersion || extra);
    const webToken = readsWebVersion ? this.#webTokenOf(group.workspaceId, id) : '';
    const recipient = {
      messageId: id,
      email,
      contact,
      feeds: feedsOf(email),
      urls: urlsOf(variant.baseUrl, group, { token, webToken, canBeLeft: plan.canBeLeft }),
      trackingToken: variant.linkSet ? this.#trackOf(group.workspaceId, id, variant.linkSet) : '',
      ...(extra && { data: extra.data, options: extra.options }),
    };
    const copies = extra?.copies.filter((copy) => copy !== email) ?? noCopies;
    const { program: template } = variant;
    const program = extra?.own ? ownProgram(template, extra.own, mimeMaxBytes(plan)) : template;
    return { message, variant, program, recipient, copies };
  }

  /** Undefined where the message is settled already. */
  #outgoing({ message, variant, copies }: Letter, prepare: WriteMail): Outgoing | undefined {
    const { startsUntilMs, stop, extras } = this.#delivery;
    const { expiresAtMs = Number.POSITIVE_INFINITY, own } = extras?.get(message.id) ?? {};
    const held = this.#context.underway.get(message.id);
    const settle = (outcome: SendOutcome) => this.#settle(message, outcome);
    if (!isSendable(message.email)) {
      settle({ kind: 'failed', info: 'the address has characters that the server can not take' });
      return undefined;
    }
    if (!held) throw new Error('a message is sent that this process does not hold');
    const { journal, returnPaths, signing } = this.#context;
    const { group, plan } = this.#delivery;
    const { workspaceId } = group;
    const domain = plan.knownDomainOf(variant);
    const keeping = this.#contents?.noting(message.id, prepare) ?? prepare;
    return {
      id: message.id,
      from: variant.from,
      to: message.email,
      ...(returnPaths &&
        plan.transport.takesReturnPath && {
          returnPath: returnPaths.of(
            { workspaceId, messageId: message.id },
            domain?.given.returnPathHost,
          ),
        }),
      ...(plan.transport.keepsMails &&
        domain?.keys && { signature: signing(workspaceId, domain.given.name) }),
      startsUntilMs: Math.min(startsUntilMs, expiresAtMs),
      held,
      signal: stop,
      prepare: keeping,
      ...(journal && {
        begin: (write: (mayWrite: boolean) => void) => {
          journal.begin(
            { workspaceId, id: message.id, unknownRetries: plan.unknownRetries },
            write,
          );
        },
      }),
      failureInfo: renderFailureInfo,
      settle,
      ...(own && noted({ prepare: keeping, settle })),
      copies,
      refusedCopies: 0,
      lost: 0,
    };
  }

  #settle(message: ClaimedMessage, outcome: SendOutcome): void {
    this.outage = outageOf(outcome) ?? this.outage;
    if (outcome.kind === 'accepted') this.hasSent = true;
    const { id, unknown } = message;
    const { group, plan } = this.#delivery;
    const { now, recorder, underway } = this.#context;
    const { unknownRetries, transport } = plan;
    const { isDirect } = transport;
    const result = resultOf(message, outcome, { now: now(), unknownRetries, isDirect });
    if (!result) {
      this.#giveBack(id);
      return;
    }
    countMessage(result.status);
    const stored = (fate: Fate | undefined) => {
      if (fate) this.#fates.set(id, fate);
      this.#contents?.settle(id, fate?.status === 'sent');
      underway.release([id]);
      this.#finish(1);
    };
    this.#inTrace(() => recorder.add(group.workspaceId, { result, unknown, stored }));
  }

  #giveBack(id: string): void {
    this.#contents?.settle(id, false);
    this.unsent.push(id);
    this.#toGiveBack.push(id);
    if (this.#toGiveBack.length === 1) setTimeout(() => this.#giveBackAll(), giveBackAfterMs);
  }

  #giveBackAll(): void {
    const ids = this.#toGiveBack;
    this.#toGiveBack = [];
    giveBackUntilDone(this.#context, this.#delivery.group.workspaceId, ids)
      .catch((error: unknown) =>
        this.#context.log.error({ err: error }, 'claimed messages could not be given back'),
      )
      .finally(() => this.#finish(ids.length));
  }

  #finish(count: number): void {
    this.#left -= count;
    if (this.#left === 0) this.#done.resolve();
  }
}

function mimeMaxBytes({ transport: { takesMime } }: CompiledPlan): number | undefined {
  const { sizeMaxMb } = takesMime ?? {};
  return sizeMaxMb === undefined ? undefined : sizeMaxMb * 1_000_000;
}

/** Undefined where the thread has something to do first. */
function prepareQuickly({ program, recipient }: Letter): WriteMail | undefined {
  if (program.slow || hasSlowText(recipient)) return undefined;
  try {
    return program.draft(recipient);
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/**
 * Only a list has something to confirm. Mail that is neither to a list nor of a broadcast has
 * nothing to leave, unless its plan says otherwise.
 */
function urlsOf(
  base: string,
  { workspaceId, listId, broadcastId }: ClaimGroup,
  { token, webToken, canBeLeft: isLeft }: { token: string; webToken: string; canBeLeft: boolean },
) {
  const preferences = `${base}/p/${workspaceId}/${token}`;
  const canBeLeft = listId !== null || broadcastId !== null || isLeft;
  return {
    preferences,
    unsubscribe: canBeLeft ? `${base}/u/${workspaceId}/${token}` : '',
    confirm: listId === null ? '' : `${base}/c/${workspaceId}/${token}`,
    webVersion: webToken === '' ? '' : `${base}/w/${workspaceId}/${webToken}`,
  };
}

function unreachable(): never {
  throw new Error('the message was stopped before it was rendered');
}
