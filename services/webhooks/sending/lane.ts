import type { SubscriptionKey } from '../subscription.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { Pool } from './pool.ts';
import { Window } from './windows.ts';

/** From this size on an endpoint is quick: as many deliveries as may be open are claimed ahead. */
const aheadFrom = 8;

export type QueuedDelivery = { claimed: ClaimedDelivery; claimedAtMs: number; pool: Pool };

/** The first attempts of one endpoint: what is open, and what is claimed and waits for a place. */
export class EndpointLane {
  readonly window = new Window();
  open = 0;
  queue: QueuedDelivery[] = [];
  /** Places of deliveries that are being inserted as claimed. */
  reserved = 0;
  /** Whether there may be more to claim. */
  hasMore = false;
  /** Whether there is more since the claim began that is made now. */
  wasPoked = false;
  /** Whether its endpoint is being read again. */
  isReading = false;
  /** While the endpoint is paced: nothing is claimed before. */
  notBeforeMs = 0;
  /** By the clock of `performance`; what was read of the endpoint before does not hold. */
  recalledAtMs = Number.NEGATIVE_INFINITY;

  readonly key: SubscriptionKey;

  constructor(key: SubscriptionKey) {
    this.key = key;
  }

  /**
   * How many to claim. Zero while a quick endpoint has enough ahead, so that claims don't become
   * small.
   */
  get wants(): number {
    const { size } = this.window;
    const ahead = size >= aheadFrom ? size : 0;
    if (this.queue.length > ahead / 2) return 0;
    return Math.max(0, size + ahead - this.open - this.queue.length - this.reserved);
  }
}
