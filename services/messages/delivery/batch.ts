import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '#lib/postgres/store.ts';
import { inSpan } from '#lib/telemetry/tracing.ts';
import type { Admission } from '../admission/admission.ts';
import type { IntegrationLane } from '../admission/lane.ts';
import { type Permits, returnPermits, takePermits } from '../admission/rate.ts';
import { type Today, todayOf } from '../admission/warm-up.ts';
import type { Hold } from '../hold/hold.ts';
import type { Fate } from '../message.ts';
import { type BatchFeeds, type Feeds, feedValues } from '../plans/feeds.ts';
import type { CompiledPlan } from '../plans/plans.ts';
import { type Claimant, type ClaimedMessage, claim } from '../record/claims.ts';
import { giveBackUntilDone } from '../record/give-back.ts';
import { type DeliveryContext, DeliveryRun, type Extras } from './delivery.ts';
import {
  type AddressedId,
  consentKeptMs,
  type ResolveContext,
  type Resolved,
  type ResolveGiven,
  resolve,
} from './resolve.ts';
import type { Underway } from './underway.ts';

export type SendContext = DeliveryContext &
  ResolveContext & {
    store: Store;
    feeds: Feeds;
    admission: Admission;
    underway: Underway;
    hold: Pick<Hold, 'reason'>;
  };

/** Messages to send, and what they have in common. */
export type BatchInput = ResolveGiven & {
  plan: CompiledPlan;
  /** Messages that may be claimed: id and address. */
  open: readonly AddressedId[];
  /** None of them had a row a moment ago. */
  areNew: boolean;
  feeds: BatchFeeds;
  /** What single messages have beside the template, by id. */
  extras?: ReadonlyMap<string, Extras>;
  /** Claims messages in place of the usual way. */
  claim?: (claimants: readonly Claimant[]) => Promise<ClaimedMessage[]>;
  /** Single and transactional mail, which comes before bulk. */
  isUrgent: boolean;
  stop: AbortSignal;
};

/** Why nothing can be sent now, and until when if anybody knows. */
export type Outage = { reason: string; endsAt?: Date };

export type Sent = {
  fates: Map<string, Fate>;
  outage: Outage | undefined;
  /**
   * Why some were not started: there was no room for them; they may be asked for again after this
   * time.
   */
  retryAfterMs: number;
};

type Batch = BatchInput & {
  lane: IntegrationLane;
  fates: Map<string, Fate>;
  runs: DeliveryRun[];
  /** Resolves for each run when all of it is recorded. */
  done: Promise<void>[];
};

/** What is settled when a call must stop is in the record by then. */
const answerGraceMs = 300;

/**
 * Resolves, claims and sends messages, and records what became of each. What has no fate in the
 * answer was not started. The outage says why the provider takes no mail at all, what a feed did
 * wrong, or that the day has had its share.
 */
export async function sendAll(context: SendContext, given: BatchInput): Promise<Sent> {
  const lane = context.admission.lane(given.group);
  const fates = new Map<string, Fate>();
  const { reason } = context.hold;
  if (reason !== '') return { fates, outage: { reason }, retryAfterMs: 0 };
  let open = given.open;
  for (;;) {
    const batch: Batch = { ...given, open, lane, fates, runs: [], done: [] };
    const ended = await sendOpen(context, batch);
    const refused = batch.runs.find((run) => run.outage !== '');
    for (const run of batch.runs) lane.noteRun(context.log, run);
    const outage = refused ? { reason: refused.outage } : ended?.outage;
    const late = new Set(batch.runs.flatMap((run) => run.unsent));
    open = open.filter(([id]) => late.has(id));
    if (ended || outage || open.length === 0 || given.stop.aborted) {
      return { fates, outage, retryAfterMs: ended?.retryAfterMs ?? 0 };
    }
  }
}

/**
 * Starts what is open and waits for it. What no connection took in time is given back, and its
 * consent is asked anew.
 */
async function sendOpen(context: SendContext, batch: Batch): Promise<Ended> {
  const { fates, runs, done, stop } = batch;
  const { recipient } = batch.feeds;
  try {
    return await (recipient ? startFed(context, batch, recipient) : startAll(context, batch));
  } finally {
    await Promise.race([Promise.all(done), over(stop)]);
    for (const run of runs) for (const [id, fate] of run.fates) fates.set(id, fate);
  }
}

type Ended = { outage?: Outage | undefined; retryAfterMs?: number } | undefined;

/**
 * Starts as many at a time as there is room for, until all are begun or there is no room for too
 * long.
 */
async function startAll(context: SendContext, batch: Batch): Promise<Ended> {
  let rest = batch.open;
  while (rest.length > 0 && mayGoOn(batch)) {
    const started = await startSome(context, batch, rest.length, (count) =>
      resolve(context, batch, rest.slice(0, count)),
    );
    if (started.ended) return started.ended;
    rest = rest.slice(started.count);
  }
  return undefined;
}

/**
 * Asks the feed about some, sends to them, and so on. Nobody is sent to without what the feed says.
 */
async function startFed(
  context: SendContext,
  batch: Batch,
  recipient: NonNullable<BatchFeeds['recipient']>,
): Promise<Ended> {
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
async function startReady(context: SendContext, batch: Batch, fed: Resolved): Promise<Ended> {
  let resolved = fed;
  while (resolved.claimants.length > 0 && mayGoOn(batch)) {
    const { claimants } = resolved;
    const started = await startSome(context, batch, claimants.length, async (count) => {
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

/**
 * Waits for its turn, draws permits, claims as many as there are permits for, and begins to deliver
 * them.
 */
async function startSome(
  context: SendContext,
  batch: Batch,
  wanted: number,
  resolveSome: (count: number) => Promise<Resolved>,
): Promise<{ count: number; ended?: Ended }> {
  const { lane, isUrgent, stop } = batch;
  const turn = await context.admission.enter({ lane, size: wanted, isUrgent, signal: stop });
  if (turn.size === 0) return { count: 0, ended: { retryAfterMs: turn.retryAfterMs } };
  try {
    const permits = await drawFor(context, batch, turn.size);
    if (permits.isDaySpent) return { count: 0, ended: { outage: spent(todayFor(context, batch)) } };
    const { count } = permits;
    if (count === 0) lane.close(permits.waitMs, isUrgent);
    else await claimPermitted(context, batch, permits, resolveSome);
    return { count };
  } finally {
    turn.leave();
  }
}

/** Permits that are not used go back, also where nothing could be claimed. */
async function claimPermitted(
  context: SendContext,
  batch: Batch,
  permits: Permits,
  resolveSome: (count: number) => Promise<Resolved>,
): Promise<void> {
  let used = 0;
  try {
    const resolved = await resolveSome(permits.count);
    const rows = await claimFree(context, batch, resolved);
    const claimed = rows.filter(({ status }) => status === 'sending');
    for (const row of rows) if (row.status !== 'sending') batch.fates.set(row.id, row);
    used = claimed.length;
    if (used > 0) start(context, batch, { claimed, resolved, permits });
  } finally {
    await giveUp(context, batch, permits.count - used, permits.date);
  }
}

/** Permits that cannot be put back are lost; what was claimed goes out all the same. */
async function giveUp(
  context: SendContext,
  batch: Batch,
  count: number,
  date: string,
): Promise<void> {
  try {
    await returnPermits(context.store, rateOf(batch), count, date);
  } catch (error) {
    context.log.warn({ err: error, count }, 'permits to send could not be put back');
  }
}

function todayFor({ now }: SendContext, { plan }: Batch): Today {
  return todayOf(plan.warmUp, now());
}

function spent({ limit, endsAt }: Today): Outage {
  return { reason: `warm-up limit of ${limit} messages a day reached`, endsAt };
}

function rateOf({ group, plan }: Batch) {
  const { workspaceId, integrationId } = group;
  return { workspaceId, integrationId, perMinute: plan.perMinute };
}

function drawFor(context: SendContext, batch: Batch, wanted: number): Promise<Permits> {
  const { store, owner } = context;
  const { isUrgent } = batch;
  const today = todayFor(context, batch);
  return takePermits(store, rateOf(batch), { owner, wanted, isUrgent, today });
}

/** Begins to deliver what was claimed. */
function start(
  context: SendContext,
  batch: Batch,
  {
    claimed,
    resolved,
    permits,
  }: { claimed: ClaimedMessage[]; resolved: Resolved; permits: Permits },
): void {
  const { group, plan, feeds, stop, lane, extras, isUrgent } = batch;
  const { contacts, fed, atMs } = resolved;
  const feedsOf = (email: string) => feedValues(feeds, fed, email);
  const pool = lane.pool(plan.server, permits.replicas);
  const startsUntilMs = atMs + consentKeptMs;
  const given = { group, plan, claimed, contacts, feedsOf, extras, isUrgent };
  const attributes = {
    'messaging.system': 'smtp',
    'messaging.operation.type': 'send',
    'messaging.batch.message_count': claimed.length,
  };
  const span = { kind: 'client', attributes, onlyInTrace: true } as const;
  const run = new DeliveryRun(context, { ...given, pool, startsUntilMs, stop });
  const recorded = inSpan('send smtp', span, () => run.done);
  const done = recorded.finally(() => giveUp(context, batch, run.unsent.length, permits.date));
  // A call that fails meanwhile does not wait for it.
  done.catch(() => undefined);
  batch.runs.push(run);
  batch.done.push(done);
}

/** Claims what nothing in this process holds, and holds what is ours from then on. */
async function claimFree(
  context: SendContext,
  { group, lane, isUrgent, areNew, claim: claimOwn }: Batch,
  { claimants, atMs: askedMs }: Pick<Resolved, 'claimants' | 'atMs'>,
): Promise<ClaimedMessage[]> {
  const { store, owner, underway, log } = context;
  const free = underway.hold({ lane, isUrgent }, claimants);
  const ids = new Set(free.map(({ id }) => id));
  try {
    const rows = await (claimOwn?.(free) ??
      claim(store, owner, group, { claimants: free, areNew, askedMs }));
    for (const { id, status } of rows) if (status === 'sending') ids.delete(id);
    underway.release(ids);
    return rows;
  } catch (error) {
    // The claim may have been committed before its answer was lost.
    giveBackUntilDone(context, group.workspaceId, [...ids]).catch((cause: unknown) =>
      log.error({ err: cause }, 'claimed messages could not be given back'),
    );
    throw error;
  }
}

/** Resolves when a call must answer: what a server has not answered by then goes on without it. */
async function over(stop: AbortSignal): Promise<void> {
  if (!stop.aborted) await once(stop, 'abort');
  await sleep(answerGraceMs, undefined, { ref: false });
}
