/*
 * Turns: which of the claimed jobs go next, and with which others.
 *
 * Small jobs share calls: a call takes those of one consumer that wait, of all workspaces in turn.
 * The first goes at once, and those that come while calls are open go together. A workspace is in
 * one such call of a consumer at a time, so its events stay in order. Large jobs, and jobs that
 * have failed, have a call each.
 *
 * While others have events, a workspace has one own call at a time: how long it takes is known only
 * when it ends. A workspace whose calls take long, since its events have many takers or wait for
 * something, shares none, and rests as long as each took. After a shared call that fails as a
 * whole, each of its workspaces has a call of its own next, and shares calls again when that ends
 * well.
 *
 * Limits: 8 own calls, 5 of a workspace that is alone; 3 shared ones of each consumer. A job has at
 * most 4 MiB, or 32 KiB if it is small. A claim has room for 100 units: a small job is one, any
 * other is ten.
 */

import type { PoolClient } from 'pg';
import { FairQueue } from '../collections/fair-queue.ts';
import { Activity } from '../limits/activity.ts';

const ownCallsMax = 8;
/** While no other workspace has events. */
const ownCallsOfWorkspaceMax = 5;
const sharedCallsMax = 3;
/** Of a call. Together they have 3.2 MiB at most, and as many events as one large job. */
const jobsMax = 100;
const eventsMax = 500;
/** A call that takes longer, whether it fails or not, is heavy work for its consumer. */
const heavyMs = 100;
const restMaxMs = 1_000;
/** After this time without another such call a workspace is one like all others. */
const heavyKeptMs = 10_000;

/** Jobs are claimed by these. */
export const unitsOfLarge = 10;
/** Claimed together, and at once in all. */
const unitsOfClaimMax = 100;
const unitsMax = 160;
/** A workspace with as many units is left out of the next claim. */
const unitsOfWorkspaceMax = 50;
/** The same of large jobs, and what one claim takes: one is delivered, and another comes next. */
export const largeOfWorkspaceMax = 2;

export type EventJob = {
  id: string;
  attempts: number;
  isSmall: boolean;
  payload: { workspaceId: string; consumer: string; types: readonly string[] };
};

/** The part of the runner that a task uses. */
export type EventHelpers = {
  job: { attempts: number };
  withPgClient: <Result>(use: (client: PoolClient) => Promise<Result>) => Promise<Result>;
};

/**
 * The result of a payload, and the time that its consumer spent for its workspace alone: unknown
 * where the call failed as a whole. One with `isAlone` was not delivered: it needs a call of its
 * own.
 */
export type Delivered = { error?: Error; tookMs?: number | undefined; isAlone?: boolean };

/** Delivers payloads for one consumer, with a result for each. */
export type EventTask = (
  payloads: readonly unknown[],
  helpers: EventHelpers,
) => Promise<readonly Delivered[]>;

/** Jobs of one consumer that are delivered by one call. */
export type EventCall = { jobs: readonly EventJob[]; consumer: string; isShared: boolean };

const workspaceOf = ({ payload }: EventJob) => payload.workspaceId;

/** Whether it may be with others in a call: one that has failed might spoil theirs. */
const isGrouped = ({ isSmall, attempts }: EventJob) => isSmall && attempts === 1;
const unitsOf = (job: EventJob) => (isGrouped(job) ? 1 : unitsOfLarge);

export class EventTurns {
  /** Claimed, and no call begun: those with a call of their own. */
  readonly #large = new FairQueue<EventJob>();
  /** Jobs that share calls, by consumer. */
  readonly #shared = new Map<string, FairQueue<EventJob>>();
  /** Small ones of heavy workspaces. */
  readonly #heavySmall = new FairQueue<EventJob>();
  #isTurnOfHeavy = false;
  readonly #units = new Map<string, number>();
  #unitsInAll = 0;
  #ownCalls = 0;
  readonly #ownCallsOf = new Map<string, number>();
  readonly #sharedCallsOf = new Map<string, number>();
  /** By workspace, the consumers of its open calls with small jobs. */
  readonly #smallCallsOf = new Map<string, Set<string>>();
  readonly #activity = new Activity();
  /** Workspaces that share no calls, and until when each rests, by the process's clock. */
  readonly #heavy = new Map<string, number>();
  readonly #rested: () => void;

  /** `rested` is called when a workspace may have a turn again. */
  constructor(rested: () => void) {
    this.#rested = rested;
  }

  /** Units that may be claimed now. */
  get room(): number {
    return Math.min(unitsOfClaimMax, unitsMax - this.#unitsInAll);
  }

  /** Whether a claim has room for as much as it may have: small claims cost as much. */
  get hasRoomForAll(): boolean {
    return this.#unitsInAll <= unitsMax - unitsOfClaimMax;
  }

  /** Workspaces of which nothing may be claimed: a job that has to wait would keep a place. */
  get leftOut(): string[] {
    return [...new Set([...this.#units.keys(), ...this.#heavy.keys()])].filter(
      (workspaceId) => !this.#mayClaim(workspaceId),
    );
  }

  /** Whether a new job of a workspace may be added without a claim. */
  hasRoomFor(workspaceId: string): boolean {
    return this.hasRoomForAll && this.#mayClaim(workspaceId);
  }

  add(job: EventJob): void {
    const { workspaceId, consumer } = job.payload;
    this.#activity.note(workspaceId);
    this.#unitsInAll += unitsOf(job);
    count(this.#units, workspaceId, unitsOf(job));
    if (!isGrouped(job)) this.#large.add(workspaceId, job);
    else if (this.#heavy.has(workspaceId) || this.#heavySmall.sizeOf(workspaceId) > 0) {
      this.#heavySmall.add(workspaceId, job);
    } else {
      const queue = this.#shared.get(consumer) ?? new FairQueue();
      this.#shared.set(consumer, queue);
      queue.add(workspaceId, job);
    }
  }

  /** The call that is to begin next. */
  next(): EventCall | undefined {
    return this.#nextShared() ?? this.#nextOwn();
  }

  /** A call has ended. */
  ended(call: EventCall, results: readonly Delivered[], tookMs: number): void {
    const { jobs, consumer, isShared } = call;
    for (const job of jobs) this.#forget(job);
    const places = Map.groupBy(jobs.keys(), (place) => workspaceOf(jobs[place]!));
    if (jobs.every(isGrouped)) this.#unmark(consumer, places.keys());
    if (isShared) count(this.#sharedCallsOf, consumer, -1);
    else {
      this.#ownCalls -= 1;
      for (const workspaceId of places.keys()) count(this.#ownCallsOf, workspaceId, -1);
    }
    for (const [workspaceId, own] of places) {
      const outcomes = own.map((place) => results[place] ?? {});
      this.#note(
        workspaceId,
        places.size === 1 ? outcomes.map((each) => ({ ...each, tookMs })) : outcomes,
      );
    }
  }

  /** All jobs of which no call has begun; they are no longer held here. */
  giveBack(): EventJob[] {
    const jobs: EventJob[] = [];
    for (const queue of [this.#large, this.#heavySmall, ...this.#shared.values()]) {
      for (let next = queue.take(); next; next = queue.take()) jobs.push(next.item);
    }
    for (const job of jobs) this.#forget(job);
    return jobs;
  }

  #nextShared(): EventCall | undefined {
    for (const [consumer, queue] of this.#shared) {
      if ((this.#sharedCallsOf.get(consumer) ?? 0) >= sharedCallsMax) continue;
      const mayJoin = (workspaceId: string) => !this.#smallCallsOf.get(workspaceId)?.has(consumer);
      const jobs = gather(() => queue.take(mayJoin)?.item);
      if (jobs.length === 0) continue;
      count(this.#sharedCallsOf, consumer, 1);
      this.#mark(consumer, jobs);
      return { jobs, consumer, isShared: true };
    }
    return undefined;
  }

  #nextOwn(): EventCall | undefined {
    if (this.#ownCalls >= ownCallsMax) return undefined;
    this.#isTurnOfHeavy = !this.#isTurnOfHeavy;
    const jobs = this.#isTurnOfHeavy
      ? (this.#takeHeavy() ?? this.#takeLarge())
      : (this.#takeLarge() ?? this.#takeHeavy());
    const [first] = jobs ?? [];
    if (!jobs || !first) return undefined;
    this.#ownCalls += 1;
    count(this.#ownCallsOf, workspaceOf(first), 1);
    if (isGrouped(first)) this.#mark(first.payload.consumer, jobs);
    return { jobs, consumer: first.payload.consumer, isShared: false };
  }

  #mark(consumer: string, jobs: readonly EventJob[]): void {
    for (const job of jobs) {
      const consumers = this.#smallCallsOf.get(workspaceOf(job)) ?? new Set();
      this.#smallCallsOf.set(workspaceOf(job), consumers.add(consumer));
    }
  }

  #unmark(consumer: string, workspaceIds: Iterable<string>): void {
    for (const workspaceId of workspaceIds) {
      const consumers = this.#smallCallsOf.get(workspaceId);
      consumers?.delete(consumer);
      if (consumers?.size === 0) this.#smallCallsOf.delete(workspaceId);
    }
  }

  #takeLarge(): EventJob[] | undefined {
    const next = this.#large.take((workspaceId) => this.#mayOpen(workspaceId));
    return next && [next.item];
  }

  /** Small jobs of a heavy workspace, for the consumer of the first. */
  #takeHeavy(): EventJob[] | undefined {
    const next = this.#heavySmall.take(
      (workspaceId) => !this.#smallCallsOf.has(workspaceId) && this.#mayOpen(workspaceId),
    );
    if (!next) return undefined;
    const { consumer } = next.item.payload;
    const isAlike = ({ payload }: EventJob) => payload.consumer === consumer;
    let first: EventJob | undefined = next.item;
    return gather(() => {
      const job = first ?? this.#heavySmall.takeOf(next.tenant, isAlike);
      first = undefined;
      return job;
    });
  }

  #mayClaim(workspaceId: string): boolean {
    const has = this.#units.get(workspaceId) ?? 0;
    if (this.#heavy.has(workspaceId)) return this.#hasRoom(workspaceId, has, unitsOfWorkspaceMax);
    const large = this.#large.sizeOf(workspaceId) + (this.#ownCallsOf.get(workspaceId) ?? 0);
    const hasRoomForLarge = large < largeOfWorkspaceMax || this.#activity.isAlone(workspaceId);
    return has < unitsOfWorkspaceMax && hasRoomForLarge;
  }

  #mayOpen(workspaceId: string): boolean {
    return this.#hasRoom(
      workspaceId,
      this.#ownCallsOf.get(workspaceId) ?? 0,
      ownCallsOfWorkspaceMax,
    );
  }

  /** Beside others a workspace has one at a time, and a heavy one rests between them. */
  #hasRoom(workspaceId: string, has: number, max: number): boolean {
    if (this.#activity.isAlone(workspaceId)) return has < max;
    return has === 0 && performance.now() >= (this.#heavy.get(workspaceId) ?? 0);
  }

  /** A batch that fails at once says nothing about how long others take. */
  #note(workspaceId: string, outcomes: readonly Delivered[]): void {
    const tookMs = Math.max(...outcomes.map((each) => each.tookMs ?? 0));
    // Each workspace of a call that failed as a whole may be why.
    const isSuspect = outcomes.some((each) => each.error && each.tookMs === undefined);
    if (tookMs > heavyMs) this.#setApart(workspaceId, Math.min(tookMs, restMaxMs));
    else if (isSuspect) this.#setApart(workspaceId, 0);
    else if (!outcomes.some(({ error }) => error)) this.#heavy.delete(workspaceId);
  }

  #setApart(workspaceId: string, restMs: number): void {
    const restsUntilMs = performance.now() + restMs;
    this.#heavy.set(workspaceId, restsUntilMs);
    for (const queue of this.#shared.values()) {
      for (const job of drain(queue, workspaceId)) this.#heavySmall.add(workspaceId, job);
    }
    setTimeout(this.#rested, restMs + 1).unref();
    setTimeout(() => {
      if (this.#heavy.get(workspaceId) === restsUntilMs) this.#heavy.delete(workspaceId);
    }, heavyKeptMs).unref();
  }

  #forget(job: EventJob): void {
    this.#unitsInAll -= unitsOf(job);
    count(this.#units, workspaceOf(job), -unitsOf(job));
  }
}

/** As many jobs as a call may have. */
function gather(take: () => EventJob | undefined): EventJob[] {
  const jobs: EventJob[] = [];
  let events = 0;
  while (jobs.length < jobsMax && events < eventsMax) {
    const job = take();
    if (!job) break;
    events += job.payload.types.length;
    jobs.push(job);
  }
  return jobs;
}

function drain(queue: FairQueue<EventJob>, workspaceId: string): EventJob[] {
  const jobs: EventJob[] = [];
  for (let job = queue.takeOf(workspaceId); job; job = queue.takeOf(workspaceId)) jobs.push(job);
  return jobs;
}

function count(counts: Map<string, number>, name: string, by: number): void {
  const next = (counts.get(name) ?? 0) + by;
  if (next === 0) counts.delete(name);
  else counts.set(name, next);
}
