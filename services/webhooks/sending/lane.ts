import type { SubscriptionKey } from '../subscription.ts';
import type { Claimed } from './claim.ts';
import { Window } from './windows.ts';

/** From this size on an endpoint is quick: as many deliveries as may be open are claimed ahead. */
const aheadFrom = 8;

export type Queued = { claimed: Claimed; claimedAtMs: number; pool: Pool };

const placesMax = 1_000;
/** The others are left to other workspaces. */
const placesOfWorkspaceMax = 750;

/** Places for open callbacks, so that endpoints that fail never take those of good ones. */
export class Pool {
  #held = 0;
  readonly #byWorkspace = new Map<string, number>();

  take(workspaceId: string): void {
    this.#held += 1;
    this.#byWorkspace.set(workspaceId, this.#heldBy(workspaceId) + 1);
  }

  release(workspaceId: string): void {
    this.#held -= 1;
    const held = this.#heldBy(workspaceId) - 1;
    if (held > 0) this.#byWorkspace.set(workspaceId, held);
    else this.#byWorkspace.delete(workspaceId);
  }

  /** Places that a workspace may take. */
  roomOf(workspaceId: string): number {
    const left = placesOfWorkspaceMax - this.#heldBy(workspaceId);
    return Math.min(placesMax - this.#held, left);
  }

  #heldBy(workspaceId: string): number {
    return this.#byWorkspace.get(workspaceId) ?? 0;
  }
}

/** The first attempts of one endpoint: what is open, and what is claimed and waits for a place. */
export class Lane {
  readonly window = new Window();
  open = 0;
  queue: Queued[] = [];
  /** Whether there may be more to claim. */
  hasMore = false;
  /** Whether there is more since the claim began that is made now. */
  wasPoked = false;
  /** Whether its endpoint is being read again. */
  isReading = false;
  /** While the endpoint is paced: nothing is claimed before. */
  notBeforeMs = 0;

  readonly key: SubscriptionKey;

  constructor(key: SubscriptionKey) {
    this.key = key;
  }

  /** How many to claim. Zero while a quick endpoint has enough ahead, so that claims don't become small. */
  get wants(): number {
    const { size } = this.window;
    const ahead = size >= aheadFrom ? size : 0;
    if (this.queue.length > ahead / 2) return 0;
    return Math.max(0, size + ahead - this.open - this.queue.length);
  }
}
