/*
 * The dispatcher: first attempts of deliveries. Retries belong to workflows (`retry-run.ts`).
 *
 * States of a lane (an endpoint): idle, ready (has more to claim and places for it), waiting for
 * its rate, its host, or its queue. Order: new deliveries of a good endpoint with places, where
 * nothing older waits, are inserted as claimed (`beginNew`). For all others a poke or the scan
 * marks a lane ready; one claim at a time takes rows for all lanes that have places, in turns.
 * Callbacks begin up to the window of the lane; results go to the recorder, in groups.
 *
 * Invariants: an endpoint that was changed or deleted is recalled: deliveries that are claimed and
 * not begun go back, as do those that wait longer than 15 s. Endpoints that fail have places of
 * their own and take none of good ones.
 *
 * Limits: 96 MiB of open payloads, 24 of a workspace; 10,000 lanes; 2,000 unstored results stop
 * claims.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { LruMap } from '#lib/collections/lru-map.ts';
import type { NewClaim } from '../matching/deliveries.ts';
import { nameOf, type SubscriptionKey } from '../subscription.ts';
import { attempt, type SendingContext } from './attempt.ts';
import {
  type Ask,
  beginMs,
  type ClaimedDelivery,
  claimDue,
  type EndpointClaim,
  giveBack,
  readEndpoint,
} from './claim.ts';
import { EndpointLane, type QueuedDelivery } from './lane.ts';
import { type Origin, Origins } from './origins.ts';
import { Pool } from './pool.ts';
import { ReadyLanes } from './ready-lanes.ts';
import { findEndpoints } from './scan.ts';

const lanesMax = 10_000;
const asksMax = 200;
const rowsMax = 200;
/** A claim is 50 MiB at most, so that one workspace never uses up what all have. */
const openBytesMax = 96 * 1_024 * 1_024;
const openBytesOfWorkspaceMax = 24 * 1_024 * 1_024;
const scanEveryMs = 1_000;
/** A delivery that has waited longer is given back: its claim would end before its answer. */
const waitMaxMs = 15_000;

/** New deliveries of an endpoint as it was read. */
export type NewDeliveries = {
  key: SubscriptionKey;
  count: number;
  url: string;
  sealedSecret: string;
  /** Its claims open a gate in its row. */
  isGated: boolean;
};

type InsertedFrom = {
  deliveries: readonly NewDeliveries[];
  /** Of lanes whose places were reserved. */
  pools: ReadonlyMap<EndpointLane, Pool>;
  readAtMs: number;
};

/**
 * Makes the first attempt of every delivery, at once where the endpoint answers well. One for each
 * process of the service.
 */
export class Dispatcher {
  readonly #context: SendingContext;
  readonly #lanes = new LruMap<EndpointLane>({ max: lanesMax });
  readonly #origins = new Origins();
  /** Lanes that have more to claim and places for it. */
  readonly #ready = new ReadyLanes();
  /** Endpoints that fail never take the places of good ones. */
  readonly #good = new Pool();
  readonly #others = new Pool();
  readonly #sends = new Set<Promise<void>>();
  /** Payloads of what is claimed and not answered. */
  #openBytes = 0;
  readonly #openBytesOf = new Map<string, number>();
  #claiming: Promise<void> | undefined;
  #scanTimer: NodeJS.Timeout | undefined;
  #paceTimer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #scanAfter: SubscriptionKey | undefined;
  /** The end of the call that pokes must not end the statements of claims. */
  readonly #outsideCalls = AsyncLocalStorage.snapshot();

  constructor(context: SendingContext) {
    this.#context = context;
  }

  /** Looks once a second for endpoints that nobody has named, until stopped. */
  start(): void {
    this.#scanTimer = setInterval(() => void this.#scan(), scanEveryMs);
  }

  /** Says which endpoints may have new deliveries. Call it after the commit. */
  poke(keys: readonly SubscriptionKey[]): void {
    if (this.#isStopped) return;
    for (const key of keys) {
      const lane = this.#laneOf(key);
      lane.hasMore = true;
      lane.wasPoked = true;
      this.#offer(lane);
    }
    this.#outsideCalls(() => this.#pump());
  }

  /**
   * Has new deliveries of good endpoints inserted as claimed, as many as have places now, and
   * begins them: no claim of theirs is made. `insert` gets their number by names of subscriptions,
   * and answers those that it has inserted so. The endpoints were read at `readAtMs`, by the clock
   * of `performance`.
   */
  async beginNew(
    deliveries: readonly NewDeliveries[],
    readAtMs: number,
    insert: (claims: ReadonlyMap<string, number>) => Promise<readonly NewClaim[]>,
  ): Promise<void> {
    const reserved = this.#reserve(deliveries);
    const release = () => {
      for (const [lane, { count, pool }] of reserved) {
        lane.reserved -= count;
        pool.release(lane.key.workspaceId, count);
      }
      reserved.clear();
    };
    const claims = new Map([...reserved].map(([{ key }, { count }]) => [nameOf(key), count]));
    const begun = new Map<string, number>();
    try {
      const inserted = await insert(claims);
      for (const { key } of inserted) begun.set(nameOf(key), (begun.get(nameOf(key)) ?? 0) + 1);
      const pools = new Map([...reserved].map(([lane, { pool }]) => [lane, pool]));
      release();
      this.#beginInserted(
        Map.groupBy(inserted, ({ key }) => this.#laneOf(key)),
        {
          deliveries,
          pools,
          readAtMs,
        },
      );
    } finally {
      release();
    }
    this.poke(
      deliveries
        .filter(({ key, count }) => count > (begun.get(nameOf(key)) ?? 0))
        .map(({ key }) => key),
    );
  }

  /** Claims nothing more; settles when open callbacks have ended and their results are stored. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#scanTimer);
    clearTimeout(this.#paceTimer);
    await this.#claiming;
    for (const lane of this.#lanes.values()) this.#giveBack(lane.queue.splice(0));
    while (this.#sends.size > 0) await Promise.all(this.#sends);
    await this.#context.recorder.flush();
  }

  /**
   * Gives back what is claimed and not sent of an endpoint that has changed or is gone. Call it
   * after the commit.
   */
  async recall(key: SubscriptionKey): Promise<void> {
    const lane = this.#lanes.get(nameOf(key));
    if (lane) lane.recalledAtMs = performance.now();
    // A claim that is made now may have seen the endpoint as it was.
    await this.#claiming;
    this.#giveBack(lane?.queue.splice(0) ?? []);
  }

  /**
   * The same for an endpoint that ends: other processes may begin callbacks that they have claimed
   * for a second.
   */
  async end(key: SubscriptionKey): Promise<void> {
    await this.recall(key);
    await sleep(beginMs);
  }

  /** Only where nothing older waits, so that deliveries stay in order. */
  #reserve(deliveries: readonly NewDeliveries[]): Map<EndpointLane, { count: number; pool: Pool }> {
    const reserved = new Map<EndpointLane, { count: number; pool: Pool }>();
    if (this.#isStopped || this.#mayClaimNothing) return reserved;
    const nowMs = this.#context.now().getTime();
    for (const { key, count, isGated } of deliveries) {
      const lane = this.#lanes.get(nameOf(key));
      if (!lane?.window.isGood || isGated || lane.hasMore || lane.notBeforeMs > nowMs) continue;
      if (this.#bytesOf(key.workspaceId) > openBytesOfWorkspaceMax) continue;
      const pool = this.#poolOf(lane);
      const slots = Math.min(count, lane.wants, pool.roomOf(key.workspaceId));
      if (slots <= 0) continue;
      lane.reserved += slots;
      pool.take(key.workspaceId, slots);
      reserved.set(lane, { count: slots, pool });
    }
    return reserved;
  }

  #beginInserted(
    inserted: ReadonlyMap<EndpointLane, readonly NewClaim[]>,
    { deliveries, pools, readAtMs }: InsertedFrom,
  ): void {
    const endpoints = new Map(deliveries.map((each) => [nameOf(each.key), each]));
    const nowMs = this.#context.now().getTime();
    for (const [lane, claims] of inserted) {
      const endpoint = endpoints.get(nameOf(lane.key));
      if (!endpoint) continue;
      const { url, sealedSecret } = endpoint;
      const pool = pools.get(lane) ?? this.#poolOf(lane);
      const queued = claims.map((claim) => ({
        claimed: { ...claim, attempt: 1, url, sealedSecret, beginByMs: readAtMs + beginMs },
        claimedAtMs: nowMs,
        pool,
      }));
      for (const { claimed } of queued) this.#occupy(claimed, pool);
      // Its endpoint was read before it was changed, or has failed meanwhile.
      const isOver = this.#isStopped || lane.recalledAtMs >= readAtMs || !lane.window.isGood;
      if (isOver) this.#giveBack(queued);
      else {
        lane.queue.push(...queued);
        this.#startQueued(lane);
      }
    }
  }

  #laneOf(key: SubscriptionKey): EndpointLane {
    const name = nameOf(key);
    const known = this.#lanes.get(name);
    if (known) return known;
    const lane = new EndpointLane(key);
    this.#lanes.set(name, lane);
    return lane;
  }

  #offer(lane: EndpointLane): void {
    if (lane.hasMore && lane.wants > 0) this.#ready.add(lane);
  }

  #poolOf(lane: EndpointLane): Pool {
    return lane.window.isGood ? this.#good : this.#others;
  }

  /** One claim at a time, for all endpoints that have places. */
  #pump(): void {
    if (this.#claiming || this.#isStopped) return;
    const lanes = this.#chooseLanes();
    if (lanes.size === 0) return;
    this.#claiming = this.#claim(lanes).then(
      () => {
        this.#claiming = undefined;
        this.#pump();
      },
      (error) => {
        this.#claiming = undefined;
        this.#context.log.warn({ err: error }, 'deliveries could not be claimed; trying again');
        // The next scan tries again.
        for (const lane of lanes.keys()) this.#offer(lane);
      },
    );
  }

  get #mayClaimNothing(): boolean {
    return this.#context.recorder.isBehind || this.#openBytes > openBytesMax;
  }

  #chooseLanes(): Map<EndpointLane, Ask> {
    const chosen = new Map<EndpointLane, Ask>();
    if (this.#mayClaimNothing) return chosen;
    const nowMs = this.#context.now().getTime();
    let rows = rowsMax;
    const planned = new Map<Pool, Map<string, number>>(
      [this.#good, this.#others].map((pool) => [pool, new Map()]),
    );
    for (const lane of this.#ready.inTurn()) {
      if (rows === 0 || chosen.size === asksMax) break;
      const { workspaceId } = lane.key;
      if (lane.notBeforeMs > nowMs || this.#bytesOf(workspaceId) > openBytesOfWorkspaceMax)
        continue;
      const pool = this.#poolOf(lane);
      const taken = planned.get(pool)?.get(workspaceId) ?? 0;
      const slots = Math.min(lane.wants, rows, pool.roomOf(workspaceId) - taken);
      if (slots <= 0) continue;
      rows -= slots;
      planned.get(pool)?.set(workspaceId, taken + slots);
      chosen.set(lane, { key: lane.key, slots });
    }
    // Lanes that are offered again stand behind the others.
    this.#ready.take(chosen.keys());
    return chosen;
  }

  async #claim(lanes: ReadonlyMap<EndpointLane, Ask>): Promise<void> {
    for (const lane of lanes.keys()) lane.wasPoked = false;
    const { store, now, databaseTime } = this.#context;
    const nowMs = now().getTime();
    const claims = await claimDue(store, 'first', [...lanes.values()], databaseTime());
    const byName = new Map(claims.map((claim) => [nameOf(claim.key), claim]));
    for (const [lane, { slots }] of lanes) {
      this.#take(lane, { claim: byName.get(nameOf(lane.key)), slots, nowMs });
    }
  }

  #take(
    lane: EndpointLane,
    { claim, slots, nowMs }: { claim: EndpointClaim | undefined; slots: number; nowMs: number },
  ): void {
    const deliveries = claim?.deliveries ?? [];
    const waitMs = claim?.waitMs ?? 0;
    lane.notBeforeMs = nowMs + waitMs;
    lane.hasMore = lane.wasPoked || deliveries.length === slots || waitMs > 0;
    const pool = this.#poolOf(lane);
    for (const claimed of deliveries) {
      this.#occupy(claimed, pool);
      lane.queue.push({ claimed, claimedAtMs: nowMs, pool });
    }
    this.#startQueued(lane);
    this.#offer(lane);
    if (waitMs > 0) this.#pumpIn(waitMs);
  }

  #pumpIn(ms: number): void {
    if (this.#isStopped) return;
    this.#paceTimer ??= setTimeout(() => {
      this.#paceTimer = undefined;
      this.#pump();
    }, ms);
  }

  #startQueued(lane: EndpointLane): void {
    const tooOldMs = this.#context.now().getTime() - waitMaxMs;
    while (lane.queue.length > 0 && lane.open < lane.window.size && !this.#isStopped) {
      const queued = lane.queue[0]!;
      const origin = this.#origins.of(queued.claimed);
      if (queued.claimedAtMs < tooOldMs) {
        this.#giveBack(lane.queue.splice(0));
      } else if (queued.claimed.beginByMs < performance.now()) {
        if (!lane.isReading) this.#hold(this.#readAgain(lane));
        return;
      } else if (origin.isFull) {
        origin.waiting.add(lane);
        return;
      } else {
        lane.queue.shift();
        this.#hold(this.#send(lane, origin, queued));
      }
    }
  }

  /**
   * Deliveries that are claimed ahead may wait while another process disables the endpoint or
   * replaces its secret.
   */
  async #readAgain(lane: EndpointLane): Promise<void> {
    lane.isReading = true;
    const { store, log } = this.#context;
    const endpoint = await readEndpoint(store, lane.key).catch((error) => {
      log.warn({ err: error }, 'an endpoint could not be read; its deliveries are given back');
    });
    lane.isReading = false;
    if (endpoint) for (const each of lane.queue) Object.assign(each.claimed, endpoint);
    else this.#giveBack(lane.queue.splice(0));
    this.#startQueued(lane);
    this.#offer(lane);
    this.#pump();
  }

  #hold(send: Promise<void>): void {
    this.#sends.add(send);
    void send.finally(() => this.#sends.delete(send));
  }

  async #send(lane: EndpointLane, origin: Origin, queued: QueuedDelivery): Promise<void> {
    lane.open += 1;
    origin.open += 1;
    const startedAtMs = performance.now();
    const { isSuccess, stored } = await attempt(this.#context, queued.claimed);
    lane.answered(performance.now() - startedAtMs);
    origin.open -= 1;
    this.#release(queued);
    this.#serveWaiting(origin);
    if (isSuccess) lane.window.succeeded();
    else {
      lane.window.failed();
      // They would wait for one another; as first attempts they wait for nobody.
      this.#giveBack(lane.queue.splice(0));
      // The next claim sees the failure, and stops when the circuit is open.
      await stored;
    }
    lane.open -= 1;
    this.#startQueued(lane);
    this.#offer(lane);
    this.#pump();
  }

  #serveWaiting(origin: Origin): void {
    for (const lane of origin.waiting) {
      if (origin.isFull) return;
      origin.waiting.delete(lane);
      this.#startQueued(lane);
    }
  }

  #bytesOf(workspaceId: string): number {
    return this.#openBytesOf.get(workspaceId) ?? 0;
  }

  #occupy({ key: { workspaceId }, data }: ClaimedDelivery, pool: Pool): void {
    pool.take(workspaceId);
    this.#openBytes += data.length;
    this.#openBytesOf.set(workspaceId, this.#bytesOf(workspaceId) + data.length);
  }

  #release({ claimed, pool }: QueuedDelivery): void {
    const { key, data } = claimed;
    pool.release(key.workspaceId);
    this.#openBytes -= data.length;
    const left = this.#bytesOf(key.workspaceId) - data.length;
    if (left > 0) this.#openBytesOf.set(key.workspaceId, left);
    else this.#openBytesOf.delete(key.workspaceId);
  }

  #giveBack(queued: readonly QueuedDelivery[]): void {
    if (queued.length === 0) return;
    for (const each of queued) this.#release(each);
    const { store, log, databaseTime } = this.#context;
    const claims = queued.map(({ claimed }) => claimed);
    const back = giveBack(store, claims, databaseTime()).catch((error) => {
      // They are retries when their claim is over.
      log.warn({ err: error }, 'claims of deliveries could not be given back');
    });
    this.#hold(back.then(() => this.poke([claims[0]!.key])));
  }

  async #scan(): Promise<void> {
    const { store, databaseTime, log } = this.#context;
    try {
      const { keys, after } = await findEndpoints(store, databaseTime(), this.#scanAfter);
      this.#scanAfter = after;
      this.poke(keys);
    } catch (error) {
      log.warn({ err: error }, 'endpoints with new deliveries could not be found');
    }
  }
}
