import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import type { Log } from '#lib/log.ts';
import type { BacklogLimits } from './limits.ts';
import { type Counts, type Trimming, trim } from './trim.ts';

const workspacesMax = 10_000;
/** Beyond a limit by this share of it at most, in each process, before the oldest go. */
const slack = 0.05;

/** How many deliveries may be added before all are counted again. */
type Room = { pending: number; kept: number; bySubscription: Map<string, number> };

/**
 * Keeps the deliveries of each workspace within the limits. Counting reads them all, so it is done again only when half of the room
 * that the last count has left is used, since other processes add some, too; at a limit, after a twentieth of it.
 */
export class Backlog {
  readonly #context: Trimming & { log: Log };
  readonly #limits: BacklogLimits;
  readonly #rooms = new LRUCache<string, Room>({ max: workspacesMax });
  readonly #trims = new Map<string, Promise<void>>();
  /** The end of the call that adds must not end the statements of trims. */
  readonly #outsideCalls = AsyncLocalStorage.snapshot();

  constructor(context: Trimming & { log: Log }, limits: BacklogLimits) {
    this.#context = context;
    this.#limits = limits;
  }

  /** Takes note of new pending deliveries, by subscription. Call it after the commit. */
  added(workspaceId: string, counts: ReadonlyMap<string, number>): void {
    const room = this.#roomOf(workspaceId);
    let isUsed = false;
    for (const [id, count] of counts) {
      const left = (room.bySubscription.get(id) ?? this.#newRoom.pendingOfSubscription) - count;
      room.bySubscription.set(id, left);
      room.pending -= count;
      room.kept -= count;
      isUsed ||= left <= 0;
    }
    if (isUsed || room.pending <= 0 || room.kept <= 0) this.#trim(workspaceId);
  }

  /** Settles when nothing is trimmed. */
  async settled(): Promise<void> {
    while (this.#trims.size > 0) await Promise.all(this.#trims.values());
  }

  #roomOf(workspaceId: string): Room {
    const known = this.#rooms.get(workspaceId);
    if (known) return known;
    const { pendingOfWorkspace: pending, keptOfWorkspace: kept } = this.#newRoom;
    const room = { pending, kept, bySubscription: new Map<string, number>() };
    this.#rooms.set(workspaceId, room);
    return room;
  }

  /** Of what was never counted. */
  get #newRoom(): BacklogLimits {
    const { pendingOfSubscription, pendingOfWorkspace, keptOfWorkspace } = this.#limits;
    return {
      pendingOfSubscription: roomOf(pendingOfSubscription, pendingOfSubscription),
      pendingOfWorkspace: roomOf(pendingOfWorkspace, pendingOfWorkspace),
      keptOfWorkspace: roomOf(keptOfWorkspace, keptOfWorkspace),
    };
  }

  /** One at a time for each workspace. */
  #trim(workspaceId: string): void {
    if (this.#trims.has(workspaceId)) return;
    const { log } = this.#context;
    const trimmed = this.#outsideCalls(() => trim(this.#context, workspaceId, this.#limits))
      .then((counts) => this.#setRoom(workspaceId, counts))
      .catch((err) => {
        log.warn({ err, workspaceId }, 'webhook deliveries could not be counted; trying again');
      })
      .finally(() => this.#trims.delete(workspaceId));
    this.#trims.set(workspaceId, trimmed);
  }

  #setRoom(workspaceId: string, { pending, kept }: Counts): void {
    const { pendingOfSubscription, pendingOfWorkspace, keptOfWorkspace } = this.#limits;
    const waiting = [...pending.values()].reduce((total, count) => total + count, 0);
    this.#rooms.set(workspaceId, {
      pending: roomOf(pendingOfWorkspace, waiting),
      kept: roomOf(keptOfWorkspace, kept),
      bySubscription: new Map(
        [...pending].map(([id, count]) => [id, roomOf(pendingOfSubscription, count)]),
      ),
    });
  }
}

function roomOf(max: number, count: number): number {
  return Math.max(Math.ceil(slack * max), Math.floor((max - count) / 2));
}
