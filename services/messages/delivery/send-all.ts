/*
 * Sends a batch of messages: a slice of a broadcast, a portion of the queue, or one by hand.
 *
 * Order: `pace.ts` (turns of receivers, where the server delivers directly), `admit` (room,
 * permits), `ask-consent.ts` (who may be mailed, and their fields), `claim`,
 * `deliver`; as many messages at a time as there is room for, until all are begun or there is none
 * for too long. A recipient feed is asked after the consent, before `admit`: nobody is sent to
 * without it.
 *
 * Invariants: consent is at most 5 s old when a message is begun; what no connection took by then
 * is given back and asked about again. Permits that are not used go back. A message without a fate
 * in the answer was not started, or goes on without the call; then it is in the record later.
 *
 * A plan whose sending domain is held has an outage, before anything is asked or claimed.
 *
 * Next: the caller asks again after `retryAfterMs`, or waits out the outage.
 */

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '#lib/postgres/store.ts';
import { type AdmitContext, admit, type Grant, type Outage } from '../admission/admit.ts';
import type { Fate } from '../message.ts';
import { type BatchFeeds, type Feeds, feedValues } from '../plans/feeds.ts';
import type { CompiledPlan } from '../plans/plans.ts';
import type { Sender } from '../providers/provider.ts';
import type { Pacing, Permitted } from '../receivers/pacing.ts';
import { type Claimant, type ClaimedMessage, claim } from '../record/claims.ts';
import { noteHeld } from '../record/note-held.ts';
import {
  type AddressedId,
  consentKeptMs,
  type ResolveContext,
  type Resolved,
  type ResolveGiven,
  resolve,
} from './ask-consent.ts';
import { holdForClaim } from './claim-held.ts';
import { type DeliverContext, deliver } from './deliver.ts';
import type { DeliveryRun, Extras } from './delivery-run.ts';
import { endPace, pace } from './pace.ts';

export type SendContext = DeliverContext &
  ResolveContext &
  AdmitContext & { store: Store; feeds: Feeds; pacing: Pacing };

/** Messages to send, and what they have in common. */
export type BatchInput = ResolveGiven & {
  plan: CompiledPlan;
  /** Messages that may be claimed: id and address. */
  open: readonly AddressedId[];
  /** None of them had a row a moment ago. */
  areNew: boolean;
  feeds: BatchFeeds;
  /** Content of single messages beside the template, by id. */
  extras?: ReadonlyMap<string, Extras>;
  /** Claims messages in place of the usual way. */
  claim?: (claimants: readonly Claimant[]) => Promise<ClaimedMessage[]>;
  /** Single and transactional mail, which comes before bulk. */
  isUrgent: boolean;
  /** Nothing is tried while the integration waits after an outage. */
  waitsOutOutages?: boolean;
  stop: AbortSignal;
};

export type BatchResult = {
  fates: Map<string, Fate>;
  outage: Outage | undefined;
  /**
   * Why some were not started: there was no room for them; they may be asked for again after this
   * time.
   */
  retryAfterMs: number;
};

type Batch = BatchInput & {
  fates: Map<string, Fate>;
  /** Permits of receivers; undefined where they are not paced. */
  permitted: Permitted | undefined;
  runs: DeliveryRun[];
  /** Resolves for each run when all of it is recorded. */
  done: Promise<void>[];
};

/** Time in which messages that are settled when a call must stop reach the record. */
const answerGraceMs = 300;

/**
 * Resolves, claims and sends messages, and records what became of each. A message without a fate in
 * the answer was not started. The outage says why the provider takes no mail at all, what a feed
 * did wrong, that the day has had its share, or why the sending domain is held.
 */
export async function sendAll(context: SendContext, given: BatchInput): Promise<BatchResult> {
  const fates = new Map<string, Fate>();
  const { heldBecause: reason } = given.plan;
  if (reason !== '') {
    const ids = given.open.map(([id]) => id);
    await noteHeld(context.store, given.group.workspaceId, { ids, reason });
    return { fates, outage: { reason }, retryAfterMs: 0 };
  }
  let open = given.open;
  for (;;) {
    const paced = await pace(context, given, { open, fates });
    const batch: Batch = { ...given, ...paced, fates, runs: [], done: [] };
    const ended = await sendOpen(context, batch);
    const refused = batch.runs.find((run) => run.outage !== '');
    const outage = refused ? { reason: refused.outage } : ended?.outage;
    const late = new Set(batch.runs.flatMap((run) => run.unsent));
    open = open.filter(([id]) => late.has(id));
    if (ended || outage || open.length === 0 || given.stop.aborted) {
      return { fates, outage, retryAfterMs: ended?.retryAfterMs ?? 0 };
    }
  }
}

/**
 * Starts what is open and waits for it. Messages that no connection took in time are given back,
 * and their consent is asked anew.
 */
async function sendOpen(context: SendContext, batch: Batch): Promise<EarlyEnd> {
  const { fates, runs, done, stop } = batch;
  const { recipient } = batch.feeds;
  try {
    return await (recipient ? startFed(context, batch, recipient) : startAll(context, batch));
  } finally {
    await Promise.race([Promise.all(done), over(stop)]);
    for (const run of runs) for (const [id, fate] of run.fates) fates.set(id, fate);
    if (batch.permitted) endPace(context.pacing, batch.permitted, begunOf(runs));
  }
}

/** Messages that were handed over, as far as is known. */
function begunOf(runs: readonly DeliveryRun[]): Set<string> {
  const begun = new Set(runs.flatMap((run) => run.ids));
  for (const run of runs) for (const id of run.unsent) begun.delete(id);
  return begun;
}

type EarlyEnd = { outage?: Outage | undefined; retryAfterMs?: number } | undefined;

/**
 * Starts as many at a time as there is room for, until all are begun or there is no room for too
 * long.
 */
async function startAll(context: SendContext, batch: Batch): Promise<EarlyEnd> {
  let rest = batch.open;
  while (rest.length > 0 && mayGoOn(batch)) {
    const started = await startGroup(context, batch, rest.length, (count) =>
      resolve(context, batch, rest.slice(0, count)),
    );
    if (started.ended) return started.ended;
    rest = rest.slice(started.count);
  }
  return undefined;
}

/**
 * Asks the feed about a group, sends to it, and so on. Nobody is sent to without the feed's answer.
 */
async function startFed(
  context: SendContext,
  batch: Batch,
  recipient: NonNullable<BatchFeeds['recipient']>,
): Promise<EarlyEnd> {
  let rest = batch.open;
  while (rest.length > 0 && mayGoOn(batch)) {
    const resolved = await resolve(context, batch, rest);
    const { contacts, claimants: all } = resolved;
    const skipped = all.filter(({ skipReason }) => skipReason !== '');
    const asked = all.filter(({ skipReason }) => skipReason === '');
    const fed = await context.feeds.askSome({
      workspaceId: batch.group.workspaceId,
      recipient,
      claimants: asked,
      contacts,
      stop: batch.stop,
    });
    const ready = [...skipped, ...asked.filter(({ email }) => fed.answers.has(email))];
    const ended = await startReady(context, batch, { ...resolved, claimants: ready, fed });
    if (ended) return ended;
    if (fed.outage !== '') return { outage: { reason: fed.outage } };
    const begun = new Set(ready.map(({ id }) => id));
    rest = rest.filter(([id]) => !begun.has(id));
  }
  return undefined;
}

/** Starts what a feed has answered for, with consent asked again where waiting took too long. */
async function startReady(context: SendContext, batch: Batch, fed: Resolved): Promise<EarlyEnd> {
  let resolved = fed;
  while (resolved.claimants.length > 0 && mayGoOn(batch)) {
    const { claimants } = resolved;
    const started = await startGroup(context, batch, claimants.length, async (count) => {
      if (Date.now() - resolved.atMs > consentKeptMs) {
        const again = claimants.map(({ id, email }): AddressedId => [id, email]);
        resolved = { ...(await resolve(context, batch, again)), fed: resolved.fed };
      }
      return { ...resolved, claimants: resolved.claimants.slice(0, count) };
    });
    if (started.ended) return started.ended;
    resolved = { ...resolved, claimants: resolved.claimants.slice(started.count) };
  }
  return undefined;
}

function mayGoOn({ stop, runs }: Batch): boolean {
  return !stop.aborted && runs.every(({ outage }) => outage === '');
}

/** Claims as many as there is room and permits for, and begins to deliver them. */
async function startGroup(
  context: SendContext,
  batch: Batch,
  wanted: number,
  resolveSome: (count: number) => Promise<Resolved>,
): Promise<{ count: number; ended?: EarlyEnd }> {
  const { group, plan, isUrgent, waitsOutOutages = false, stop } = batch;
  const { workspaceId, integrationId } = group;
  const ask = { workspaceId, integrationId, plan, wanted, isUrgent, waitsOutOutages, stop };
  const admitted = await admit(context, ask);
  if ('grant' in admitted) {
    const { grant } = admitted;
    await startGranted(context, batch, grant, resolveSome);
    return { count: grant.count };
  }
  const { outage, retryAfterMs } = admitted;
  if (outage) return { count: 0, ended: { outage } };
  return retryAfterMs === undefined ? { count: 0 } : { count: 0, ended: { retryAfterMs } };
}

async function startGranted(
  context: SendContext,
  batch: Batch,
  grant: Grant,
  resolveSome: (count: number) => Promise<Resolved>,
): Promise<void> {
  let resolved: Resolved;
  try {
    resolved = await resolveSome(grant.count);
  } catch (error) {
    grant.leave();
    await grant.giveBack(grant.count);
    throw error;
  }
  const claim = holdForClaim(context, grant, resolved.claimants);
  let rows: ClaimedMessage[];
  try {
    rows = await claimHeld(context, batch, { claimants: claim.held, atMs: resolved.atMs });
  } catch (error) {
    claim.abandon();
    throw error;
  }
  const claimed = rows.filter(({ status }) => status === 'sending');
  for (const row of rows) if (row.status !== 'sending') batch.fates.set(row.id, row);
  const kept = claim.keep(new Set(claimed.map(({ id }) => id)));
  if (claimed.length > 0) start(context, batch, { grant, claimed, resolved });
  await kept;
}

function claimHeld(
  { store, owner }: SendContext,
  { group, areNew, claim: claimOwn }: Batch,
  { claimants, atMs: askedMs }: { claimants: readonly Claimant[]; atMs: number },
): Promise<ClaimedMessage[]> {
  return claimOwn?.(claimants) ?? claim(store, owner, group, { claimants, areNew, askedMs });
}

function start(
  context: SendContext,
  batch: Batch,
  { grant, claimed, resolved }: { grant: Grant; claimed: ClaimedMessage[]; resolved: Resolved },
): void {
  const { group, plan, feeds, stop, extras, permitted } = batch;
  const { contacts, fed, atMs } = resolved;
  const feedsOf = (email: string) => feedValues(feeds, fed, email);
  const startsUntilMs = atMs + consentKeptMs;
  const given = { group, plan, claimed, contacts, feedsOf, extras, startsUntilMs, stop };
  const through = (sender: Sender) =>
    permitted ? context.pacing.before(sender, permitted) : sender;
  const { run, done } = deliver(context, grant, { ...given, through });
  // A call that fails meanwhile does not wait for it.
  done.catch(() => undefined);
  batch.runs.push(run);
  batch.done.push(done);
}

/** Resolves when a call must answer: what a server has not answered by then goes on without it. */
async function over(stop: AbortSignal): Promise<void> {
  if (!stop.aborted) await once(stop, 'abort');
  await sleep(answerGraceMs, undefined, { ref: false });
}
