import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { LruMap } from '#lib/collections/lru-map.ts';
import { retryLater } from '#lib/errors/errors.ts';
import { quotaDefault } from '#lib/quotas/resources.ts';
import type { BacklogLimits } from './limits.ts';
import { type DeliveryCounts, type Trimming, trim } from './trim.ts';

const workspacesMax = 10_000;
/** Beyond a limit by this share of it at most, in each process, before the oldest go. */
const slack = 0.05;
const admitMaxMs = 5_000;
const failureRestMs = 5_000;

/** How many deliveries may be added before all are counted again. */
type Room = {
  pending: number;
  kept: number;
  bytes: number;
  /**
   * With this many pending deliveries beyond the limit, additions wait until the oldest are
   * trimmed.
   */
  farBeyond: number;
  bySubscription: Map<string, number>;
  ofNewSubscription: number;
};

/**
 * Keeps the deliveries of each workspace within the limits. Counting reads them all, so it is done
 * again only when half of the room that the last count has left is used, since other processes add
 * some, too; at a limit, after a twentieth of it. A process that has not counted a workspace does
 * so at the first addition.
 */
export class Backlog {
  readonly #context: Trimming;
  readonly #limitsOf: (workspaceId: string) => Promise<BacklogLimits>;
  readonly #rooms = new LruMap<Room>({ max: workspacesMax });
  readonly #trims = new Map<string, Promise<void>>();
  /** Workspaces that grew while they were trimmed, perhaps after they were counted. */
  readonly #late = new Set<string>();
  /** The end of the call that adds must not end the statements of trims. */
  readonly #outsideCalls = AsyncLocalStorage.snapshot();

  constructor(context: Trimming, limitsOf: (workspaceId: string) => Promise<BacklogLimits>) {
    this.#context = context;
    this.#limitsOf = limitsOf;
  }

  /**
   * Takes note of new pending deliveries, by subscription, and of the bytes of new payloads. Call
   * it after the commit.
   */
  added(workspaceId: string, counts: ReadonlyMap<string, number>, bytes: number): void {
    const room = this.#roomOf(workspaceId);
    let isUsed = false;
    for (const [id, count] of counts) {
      const left = (room.bySubscription.get(id) ?? room.ofNewSubscription) - count;
      room.bySubscription.set(id, left);
      room.pending -= count;
      room.kept -= count;
      isUsed ||= left <= 0;
    }
    room.bytes -= bytes;
    const isFull = room.pending <= 0 || room.kept <= 0 || room.bytes <= 0;
    if (isUsed || isFull) this.#trim(workspaceId);
  }

  /**
   * Waits while a workspace is trimmed that went far beyond its limits: more must not come faster
   * than the oldest go. Throws Unavailable after a while, and the events come again.
   */
  async admit(workspaceId: string): Promise<void> {
    const trimmed = this.#trims.get(workspaceId);
    const room = this.#rooms.get(workspaceId);
    if (!trimmed || !room || room.pending > -room.farBeyond) return;
    const over = new AbortController();
    const isTrimmed = await Promise.race([
      trimmed.then(() => true),
      sleep(admitMaxMs, false, { signal: over.signal }).catch(() => false),
    ]);
    over.abort();
    if (isTrimmed) return;
    throw retryLater('too many webhook deliveries wait', Code.Unavailable, admitMaxMs);
  }

  /** Settles when nothing is trimmed. */
  async settled(): Promise<void> {
    while (this.#trims.size > 0) await Promise.all(this.#trims.values());
  }

  #roomOf(workspaceId: string): Room {
    const known = this.#rooms.get(workspaceId);
    if (known) return known;
    const none = { pending: 0, kept: 0, bytes: 0, ofNewSubscription: 0 };
    const farBeyond = quotaDefault('pending_deliveries') * slack;
    const room: Room = { ...none, farBeyond, bySubscription: new Map() };
    this.#rooms.set(workspaceId, room);
    return room;
  }

  /** One at a time for each workspace. */
  #trim(workspaceId: string): void {
    if (this.#trims.has(workspaceId)) {
      this.#late.add(workspaceId);
      return;
    }
    const { log } = this.#context;
    const trimmed = this.#outsideCalls(() => this.#countAndTrim(workspaceId))
      .catch(async (err) => {
        log.warn({ err, workspaceId }, 'webhook deliveries could not be counted; trying again');
        // Else every event of the workspace would have a database that fails count again.
        await sleep(failureRestMs, undefined, { ref: false });
      })
      .finally(() => {
        this.#trims.delete(workspaceId);
        if (this.#late.delete(workspaceId)) this.#trim(workspaceId);
      });
    this.#trims.set(workspaceId, trimmed);
  }

  async #countAndTrim(workspaceId: string): Promise<void> {
    const limits = await this.#limitsOf(workspaceId);
    this.#setRoom(workspaceId, await trim(this.#context, workspaceId, limits), limits);
  }

  #setRoom(
    workspaceId: string,
    { pending, kept, bytes }: DeliveryCounts,
    limits: BacklogLimits,
  ): void {
    const { pendingOfSubscription, pendingOfWorkspace, keptOfWorkspace } = limits;
    const waiting = [...pending.values()].reduce((total, count) => total + count, 0);
    this.#rooms.set(workspaceId, {
      pending: roomOf(pendingOfWorkspace, waiting),
      kept: roomOf(keptOfWorkspace, kept),
      bytes: roomOf(limits.bytesOfWorkspace, bytes),
      farBeyond: Math.ceil(pendingOfWorkspace * slack),
      ofNewSubscription: roomOf(pendingOfSubscription, 0),
      bySubscription: new Map(
        [...pending].map(([id, count]) => [id, roomOf(pendingOfSubscription, count)]),
      ),
    });
  }
}

function roomOf(max: number, count: number): number {
  return Math.max(Math.ceil(slack * max), Math.floor((max - count) / 2));
}
